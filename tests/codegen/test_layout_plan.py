"""Plans of block loads: the messages there are, the fewest of them, and what they refuse."""

import re
from itertools import product

import llvmlite.binding as llvm
import numpy as np
import pytest

from codegen.layout import (
    MESSAGES,
    BlockLimits,
    BlockMessage,
    LayoutRefused,
    Operand,
    Reading,
    block_limits,
    plan_block_loads,
)
from codegen.mlir import XeGpuModule
from codegen.simulator.block_shape import block_shape
from codegen.target import target_of
from hal import resolve_device

LIMITS = BlockLimits(32, 64, 64, 8, 16, 32)
A, B, BT, C = Operand.A, Operand.B, Operand.B_TRANSPOSED, Operand.C


def test_the_limits_are_those_of_the_device() -> None:
    assert block_limits(target_of(resolve_device("b580").spec)) == LIMITS


@pytest.mark.parametrize("message", [m for m in MESSAGES if m.bits < 64], ids=lambda m: m.name)
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
    shapes = product((8, 16, 32), (1, 2, 4, 8, 16, 32), (8, 16, 32, 64), (1, 2, 4))
    every = (BlockMessage(reading, *shape) for shape in shapes for reading in Reading)
    assert {m for m in every if block_shape(m.name) is not None} == {m for m in MESSAGES if m.bits < 64}


def test_the_64_bit_transpose_gives_lanes_half_rows() -> None:
    (message,) = (m for m in MESSAGES if m.bits == 64)
    assert message.name == "intel_sub_group_2d_block_read_transpose_64b_8r4x1c"
    assert message.row_bytes == 32
    assert message.lane_layout().in_sizes == {"register": 2, "lane": 16}


# (rows, columns, bits, operand), then rows x width x array_length of the message and the number of loads.
PLANS = [
    ((32, 48, 16, A), (32, 16, 1), 3),
    ((32, 64, 16, A), (32, 16, 2), 2),
    ((24, 32, 16, A), (8, 16, 2), 3),
    ((4, 32, 16, A), (4, 16, 2), 1),
    ((1, 16, 16, A), (1, 16, 1), 1),
    ((16, 64, 8, A), (16, 32, 2), 1),
    ((16, 24, 32, A), (16, 8, 1), 3),
    ((32, 64, 16, B), (32, 16, 2), 2),
    ((16, 48, 16, B), (16, 16, 1), 3),
    ((48, 32, 16, B), (16, 16, 2), 3),
    ((64, 64, 8, B), (32, 16, 4), 2),
    ((16, 32, 32, B), (16, 16, 1), 2),
    ((64, 32, 16, BT), (32, 8, 1), 4),
    ((48, 32, 16, BT), (16, 8, 1), 6),
    ((32, 64, 8, BT), (32, 8, 1), 2),
    ((16, 24, 32, BT), (16, 8, 1), 3),
    ((16, 32, 32, C), (16, 16, 1), 2),
    ((8, 32, 16, C), (8, 16, 2), 1),
    ((1, 32, 16, C), (1, 16, 2), 1),
    ((16, 64, 8, C), (16, 16, 4), 1),
]


@pytest.mark.parametrize(("tile", "message", "count"), PLANS)
def test_a_tile_is_read_with_the_fewest_messages(tile, message: tuple[int, int, int], count: int) -> None:
    plan = plan_block_loads(*tile, LIMITS)
    assert (plan.rows, plan.width, plan.array_length) == message
    assert len(plan.loads) == count


@pytest.mark.parametrize(("tile", "message", "count"), PLANS)
def test_loads_cover_the_tile_once(tile, message: tuple[int, int, int], count: int) -> None:
    rows, columns, bits, _ = tile
    plan = plan_block_loads(*tile, LIMITS)
    seen = np.zeros((rows, columns), int)
    width = plan.message.row_bytes * 8 // bits
    for row, column in plan.loads:
        seen[row : row + plan.rows, column : column + width] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize(("tile", "message", "count"), PLANS)
def test_shuffles_bring_each_operand_to_its_lanes(tile, message: tuple[int, int, int], count: int) -> None:
    rows, columns, bits, operand = tile
    plan = plan_block_loads(*tile, LIMITS)
    brought = plan.message.lane_layout()
    unit = plan.message.bits // bits
    per_slot = max(unit, plan.message.slot_elements)
    seen = np.zeros((rows, columns), int)
    for shuffle in plan.shuffles:
        origin = plan.loads[shuffle.load]
        for slot, part, lane in product(shuffle.slots, range(per_slot), range(16)):
            element = slot * per_slot + part
            row, column = brought.apply({"register": element // unit, "lane": lane})
            seen[origin[0] + row, origin[1] + column * unit + element % unit] += 1
    assert (seen == 1).all()
    assert (plan.vnni, plan.transposed) == (operand is B and bits < 32, operand is BT)


def test_of_as_many_messages_the_widest_is_taken() -> None:
    small = BlockLimits(32, 64, 32, 8, 16, 32)  # half of the registers' bytes: 32x16 and 16x32 are as many
    plan = plan_block_loads(32, 32, 16, A, small)
    assert (plan.rows, plan.array_length, plan.loads) == (16, 2, ((0, 0), (16, 0)))


def test_a_transposed_load_of_two_operands_alternates() -> None:
    first, second = plan_block_loads(32, 16, 16, BT, LIMITS).shuffles
    assert (first.row, first.slots) == (0, (0, 2, 4, 6, 8, 10, 12, 14))
    assert (second.row, second.slots) == (16, (1, 3, 5, 7, 9, 11, 13, 15))


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ((32, 24, 16, A), "cover 32x24 of 16-bit elements as operand a; they read 1x16, 1x32, 2x16"),
        ((8, 32, 16, B), "cover 8x32 of 16-bit elements as operand b; they read 16x16, 16x32, 32x16, 32x32: make"),
        ((8, 16, 16, BT), "cover 8x16 of 16-bit elements as operand b_transposed; they read 16x16, 32x16"),
        ((8, 32, 8, C), "cover 8x32 of 8-bit elements as operand c; they read 8x64, 16x64, 32x64"),
        ((1, 8, 32, A), "cover 1x8 of 32-bit elements as operand a"),
        ((8, 16, 64, C), "DPAS takes elements of 8, 16 or 32 bits, got 64"),
    ],
)
def test_tiles_that_no_message_reads_are_refused(tile, message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        plan_block_loads(*tile, LIMITS)


def _xevm(index: int, message: BlockMessage) -> str:
    bits = 32 if message.reading is Reading.PACKED else message.bits * message.slot_elements
    vector = f"vector<{message.rows * message.row_bytes * 8 // 16 // bits}xi{bits}>"
    transpose, packed = (str(message.reading is r).lower() for r in (Reading.TRANSPOSED, Reading.PACKED))
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
    messages = [m for m in MESSAGES if m.bits < 64 and m.rows * m.width >= 16]
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
    lowered = str(llvm.parse_bitcode(XeGpuModule(text).lower("bmg", level="lane")))
    called = set(re.findall(r"@_Z\d+(intel_sub_group_2d_block_\w+?c)PU3AS1", lowered))
    assert called == {m.name for m in messages}
