"""Plans of block loads: supported messages, the fewest of them, and refusals."""

import re
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from codegen.simulate.functions.block_shape import block_shape
from codegen.target import target_of
from codegen.xe.layout import (
    MESSAGES,
    BlockLimits,
    BlockMessage,
    LayoutRefused,
    Operand,
    PlacedMessage,
    Transfer,
    block_limits,
    plan_any_block_loads,
    plan_block_loads,
    plan_block_prefetches,
    plan_block_stores,
)
from codegen.xe.mlir import MlirModule
from hal import resolve_device

LIMITS = BlockLimits()
Tile = tuple[int, int, int, Operand]  # rows, columns, bits of an element
Plan = Callable[[int, int, int, BlockLimits], Sequence[PlacedMessage]]
READS = (Transfer.PLAIN, Transfer.PACKED, Transfer.TRANSPOSED)
A, B, BT, C = Operand.A, Operand.B, Operand.B_TRANSPOSED, Operand.C


@pytest.mark.parametrize("device", ["b580", "b70", "max1100", "max1550"])
def test_the_limits_are_those_of_the_device(device: str) -> None:
    assert block_limits(target_of(resolve_device(device).spec)) == LIMITS


@pytest.mark.parametrize("message", [m for m in MESSAGES if m.bits < 64 and m.transfer in READS], ids=lambda m: m.name)
def test_every_message_is_one_that_the_simulator_runs_so(message: BlockMessage) -> None:
    shape, layout = block_shape(message.name), message.lane_layout()
    assert shape is not None
    rows, columns = np.broadcast_arrays(*shape.elements())
    registers = layout.in_sizes["register"]
    full = range(16 if message.rows * message.width >= 16 else message.width)
    assert rows.shape == (registers, 16)
    for register, lane in product(range(registers), full):
        assert layout.apply({"register": register, "lane": lane}) == (rows[register, lane], columns[register, lane])


def test_there_are_no_other_messages() -> None:
    shapes = product((8, 16, 32, 64), (1, 2, 4, 8, 16, 32), (8, 16, 32, 64), (1, 2, 4))
    every = (BlockMessage(transfer, *shape) for shape in shapes for transfer in Transfer)
    known = {m for m in MESSAGES if m.bits < 64 or m.transfer not in READS}
    assert {m for m in every if block_shape(m.name) is not None} == known


def test_the_64_bit_transpose_gives_lanes_half_rows() -> None:
    (message,) = (m for m in MESSAGES if m.bits == 64 and m.transfer in READS)
    assert message.name == "intel_sub_group_2d_block_read_transpose_64b_8r4x1c"
    assert message.row_bytes == 32
    assert message.lane_layout().in_sizes == {"register": 2, "lane": 16}


# (rows, columns, bits, operand), then rows x columns of each message in elements of the matrix, and where they start.
PLANS = [
    ((32, 48, 16, A), {"32x32": [(0, 0)], "32x16": [(0, 32)]}),
    ((32, 64, 16, A), {"32x32": [(0, 0), (0, 32)]}),
    ((24, 32, 16, A), {"16x32": [(0, 0)], "8x32": [(16, 0)]}),
    ((5, 48, 16, A), {"4x32": [(0, 0)], "4x16": [(0, 32)], "1x32": [(4, 0)], "1x16": [(4, 32)]}),
    ((4, 32, 16, A), {"4x32": [(0, 0)]}),
    ((1, 16, 16, A), {"1x16": [(0, 0)]}),
    ((16, 64, 8, A), {"16x64": [(0, 0)]}),
    ((16, 24, 32, A), {"16x16": [(0, 0)], "16x8": [(0, 16)]}),
    ((32, 64, 16, B), {"32x32": [(0, 0), (0, 32)]}),
    ((16, 48, 16, B), {"16x32": [(0, 0)], "16x16": [(0, 32)]}),
    ((48, 32, 16, B), {"32x32": [(0, 0)], "16x32": [(32, 0)]}),
    ((64, 64, 8, B), {"32x64": [(0, 0), (32, 0)]}),
    ((32, 48, 8, B), {"32x32": [(0, 0)], "32x16": [(0, 32)]}),
    ((16, 32, 32, B), {"16x16": [(0, 0), (0, 16)]}),
    ((64, 32, 16, BT), {"32x16": [(0, 0), (0, 16), (32, 0), (32, 16)]}),
    ((48, 32, 16, BT), {"32x16": [(0, 0), (0, 16)], "16x16": [(32, 0), (32, 16)]}),
    ((32, 64, 8, BT), {"32x32": [(0, 0), (0, 32)]}),
    ((16, 24, 32, BT), {"16x8": [(0, 0), (0, 8), (0, 16)]}),
    ((16, 32, 32, C), {"16x16": [(0, 0), (0, 16)]}),
    ((8, 32, 16, C), {"8x32": [(0, 0)]}),
    ((1, 32, 16, C), {"1x32": [(0, 0)]}),
    ((16, 64, 8, C), {"16x64": [(0, 0)]}),
]


def placed(messages: Sequence[PlacedMessage], bits: int) -> dict[str, list[tuple[int, int]]]:
    """Return the start positions of the messages, by their extent."""
    found: dict[str, list[tuple[int, int]]] = {}
    for load in messages:
        extent = f"{load.message.rows}x{load.message.row_bytes * 8 // bits}"
        found.setdefault(extent, []).append((load.row, load.column))
    return found


@pytest.mark.parametrize(("tile", "messages"), PLANS)
def test_a_tile_is_read_with_the_fewest_messages(tile: Tile, messages: dict[str, list[tuple[int, int]]]) -> None:
    assert placed(plan_block_loads(*tile, LIMITS).loads, tile[2]) == messages


def covered(messages: Sequence[PlacedMessage], bits: int, rows: int, columns: int) -> NDArray[np.int64]:
    """Return how often each element of a matrix is transferred."""
    seen = np.zeros((rows, columns), int)
    for load in messages:
        width = load.message.row_bytes * 8 // bits
        seen[load.row : load.row + load.message.rows, load.column : load.column + width] += 1
    return seen


@given(st.integers(1, 70), st.integers(1, 140), st.sampled_from((8, 16, 32)))
@pytest.mark.slow
def test_every_tile_is_covered_once(rows: int, columns: int, bits: int) -> None:
    for plan in (plan_any_block_loads, plan_block_prefetches):
        seen = covered(plan(rows, columns, bits, LIMITS), bits, rows + 64, columns + 64)
        assert (seen[:rows, :columns] == 1).all()
        assert seen.max() == 1
        assert not seen[rows:].any()
        assert not seen[:, -(-columns // 32) * 32 :].any()
    if columns % 16 == 0:
        assert (covered(plan_block_stores(rows, columns, bits, LIMITS), bits, rows, columns) == 1).all()


@pytest.mark.parametrize(
    ("plan", "tile", "messages"),
    [
        (
            plan_any_block_loads,
            (24, 40, 16),
            {"16x32": [(0, 0)], "16x16": [(0, 32)], "8x32": [(16, 0)], "8x16": [(16, 32)]},
        ),
        (plan_any_block_loads, (5, 16, 32), {"4x16": [(0, 0)], "1x16": [(4, 0)]}),
        (plan_any_block_loads, (32, 20, 32), {"32x16": [(0, 0), (0, 16)]}),
        (plan_block_stores, (12, 32, 16), {"8x16": [(0, 0), (0, 16)], "4x16": [(8, 0), (8, 16)]}),
        (
            plan_block_prefetches,
            (40, 72, 8),
            {"32x64": [(0, 0)], "32x32": [(0, 64)], "8x64": [(32, 0)], "8x32": [(32, 64)]},
        ),
        (plan_block_prefetches, (32, 16, 32), {"32x16": [(0, 0)]}),
    ],
)
def test_tiles_of_no_operand_too(
    plan: Plan, tile: tuple[int, int, int], messages: dict[str, list[tuple[int, int]]]
) -> None:
    assert placed(plan(*tile, LIMITS), tile[2]) == messages


def test_of_as_many_messages_those_that_move_fewest_registers_are_taken() -> None:
    names = [
        load.message.name.removeprefix("intel_sub_group_2d_block_") for load in plan_any_block_loads(12, 96, 8, LIMITS)
    ]
    # Four blocks of 16 come in rows of lanes, blocks of 32 in pairs.
    assert names == ["read_8b_8r16x4c", "read_8b_8r32x1c", "read_8b_4r32x2c", "read_8b_4r32x1c"]


def test_messages_may_reach_beyond_an_operand_if_asked() -> None:
    assert placed(plan_block_loads(24, 20, 32, BT, LIMITS, overhang=True).loads, 32) == {
        "32x8": [(0, 0), (0, 8), (0, 16)]
    }
    assert placed(plan_block_loads(5, 12, 32, A, LIMITS, overhang=True).loads, 32) == {
        "4x16": [(0, 0)],
        "2x16": [(4, 0)],
    }


@pytest.mark.parametrize(
    ("tile", "messages"),
    [
        ((64, 16, 16, BT), {"16x16": [(0, 0), (16, 0), (32, 0), (48, 0)]}),
        ((32, 32, 16, B), {"32x32": [(0, 0)]}),
        ((24, 32, 8, A), {"16x32": [(0, 0)], "8x32": [(16, 0)]}),
    ],
)
def test_operands_come_in_runs_of_registers_if_asked(tile: Tile, messages: dict[str, list[tuple[int, int]]]) -> None:
    plan = plan_block_loads(*tile, LIMITS, in_runs=True)
    assert placed(plan.loads, tile[2]) == messages
    for shuffle in plan.shuffles:
        assert shuffle.slots == tuple(range(shuffle.slots[0], shuffle.slots[0] + len(shuffle.slots)))


@pytest.mark.parametrize(("tile", "messages"), PLANS)
def test_shuffles_bring_each_operand_to_its_lanes(tile: Tile, messages: dict[str, list[tuple[int, int]]]) -> None:
    rows, columns, bits, operand = tile
    plan = plan_block_loads(*tile, LIMITS)
    seen = np.zeros((rows, columns), int)
    for shuffle in plan.shuffles:
        load = plan.loads[shuffle.load]
        brought, unit = load.message.lane_layout(), load.message.bits // bits
        per_slot = max(unit, load.message.slot_elements)
        for slot, part, lane in product(shuffle.slots, range(per_slot), range(16)):
            element = slot * per_slot + part
            row, column = brought.apply({"register": element // unit, "lane": lane})
            seen[load.row + row, load.column + column * unit + element % unit] += 1
    assert (seen == 1).all()
    assert (plan.vnni, plan.transposed) == (operand is B and bits < 32, operand is BT)


def test_of_as_many_messages_the_widest_is_taken() -> None:
    small = BlockLimits(grf_bytes=32)  # half of the registers' bytes: 32x16 and 16x32 are as many
    assert placed(plan_block_loads(32, 32, 16, A, small).loads, 16) == {"16x32": [(0, 0), (16, 0)]}


def test_a_tile_with_few_rows_left_feeds_a_dpas_of_fewer_rows() -> None:
    shuffles = plan_block_loads(12, 16, 16, A, LIMITS).shuffles
    assert [(s.row, s.load, len(s.slots)) for s in shuffles] == [(0, 0, 8), (8, 1, 4)]


def test_a_transposed_load_of_two_operands_alternates() -> None:
    first, second = plan_block_loads(32, 16, 16, BT, LIMITS).shuffles
    assert (first.row, first.slots) == (0, (0, 2, 4, 6, 8, 10, 12, 14))
    assert (second.row, second.slots) == (16, (1, 3, 5, 7, 9, 11, 13, 15))


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ((32, 24, 16, A), "cover 32x24 of 16-bit elements as operand a; they take 1x16, 1x32, 2x16"),
        ((8, 32, 16, B), "cover 8x32 of 16-bit elements as operand b; they take 16x16, 16x32, 32x16, 32x32: make"),
        ((8, 16, 16, BT), "cover 8x16 of 16-bit elements as operand b_transposed; they take 16x16, 32x16"),
        ((8, 32, 8, C), "cover 8x32 of 8-bit elements as operand c; they take 8x64, 16x64, 32x64"),
        ((1, 8, 32, A), "cover 1x8 of 32-bit elements as operand a"),
        ((8, 16, 64, C), "DPAS takes elements of 8, 16 or 32 bits, got 64"),
    ],
)
def test_tiles_that_no_message_reads_are_refused(tile: Tile, message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        plan_block_loads(*tile, LIMITS)


@pytest.mark.parametrize(
    ("plan", "tile", "message"),
    [
        (plan_any_block_loads, (8, 16, 64), "8x16 of 64-bit elements as rows of lanes; they take nothing"),
        (plan_block_stores, (8, 20, 16), "8x20 of 16-bit elements as rows of lanes to write; they take 1x16, 2x16"),
        (plan_block_prefetches, (8, 20, 64), "8x20 of 64-bit elements as a prefetch; they take nothing"),
    ],
)
def test_tiles_that_no_message_transfers_are_refused(plan: Plan, tile: tuple[int, int, int], message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        plan(*tile, LIMITS)


def _xevm(index: int, message: BlockMessage) -> str:
    bits = 32 if message.transfer is Transfer.PACKED else message.bits * message.slot_elements
    vector = f"vector<{message.rows * message.row_bytes * 8 // 16 // bits}xi{bits}>"
    transpose, packed = (str(message.transfer is r).lower() for r in (Transfer.TRANSPOSED, Transfer.PACKED))
    shape = (
        f"elem_size_in_bits = {message.bits} : i32, tile_width = {message.width} : i32, "
        f"tile_height = {message.rows} : i32, v_blocks = {message.array_length} : i32"
    )
    return f"""
      %v{index} = xevm.blockload2d %p, %w, %w, %w, %zero, %zero
          <{{{shape}, transpose = {transpose}, pack_register = {packed}}}>
          : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> {vector}
      llvm.store %v{index}, %p : {vector}, !llvm.ptr<1>"""


def test_mlir_has_every_message_with_a_result_of_its_slots() -> None:
    messages = [m for m in MESSAGES if m.bits < 64 and m.rows * m.width >= 16 and m.transfer in READS]
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @k(%address: i64) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
      %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
      %zero = arith.constant 0 : i32
      %w = arith.constant 128 : i32
{"".join(_xevm(i, m) for i, m in enumerate(messages))}
      gpu.return
    }}
  }}
}}"""
    lowered = MlirModule(text).to_llvm("bmg")
    called = set(re.findall(r"@_Z\d+(intel_sub_group_2d_block_\w+?c)PU3AS1", lowered))
    assert called == {m.name for m in messages}
