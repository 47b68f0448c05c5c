"""Block load layouts against the document's listings, and what their loads really bring."""

from collections.abc import Sequence
from itertools import product

import pytest

from codegen.xe.layout import (
    BlockLimits,
    BlockLoadLayout,
    DpasLayout,
    LayoutRefused,
    LinearLayout,
    Operand,
    block_load_layout,
    block_load_listing,
)
from tests.codegen.xe.layout.test_dpas import GEMM, listing
from tests.few import few

LIMITS = BlockLimits(32, 64, 64, 8, 16, 32)
A = block_load_layout(GEMM, Operand.A, (256, 32), 16, LIMITS)
B = block_load_layout(GEMM, Operand.B, (32, 256), 16, LIMITS)
TRANSPOSED_B = block_load_layout(GEMM, Operand.B_TRANSPOSED, (256, 32), 16, LIMITS)


@pytest.mark.parametrize(("layout", "name"), [(A, "a_block_loads"), (TRANSPOSED_B, "b_transposed_block_loads")])
def test_the_three_steps_are_the_documents(layout: BlockLoadLayout, name: str) -> None:
    assert block_load_listing(layout).splitlines() == listing(name)


def test_bs_first_and_last_steps_are_the_documents() -> None:
    steps = block_load_listing(B).split("\n\n")
    assert steps[0].splitlines() == listing("b_tile")
    assert steps[2].splitlines() == listing("b_final")


def test_bs_second_step_is_derived_where_the_document_repeats_as() -> None:
    printed, got = listing("b_iterations_as_printed"), block_load_listing(B).split("\n\n")[1].splitlines()
    assert got[:8] == printed[:8]
    assert got[8:] == [
        " - iteration=1 -> (0, 16)",
        "   iteration=2 -> (8, 0)",
        "where out dims are: [dim0 (size 16), dim1 (size 32)]",
    ]
    assert printed == listing("a_block_loads")[10:22]


@pytest.mark.parametrize(
    ("layout", "message", "origins"),
    [
        (A, "intel_sub_group_2d_block_read_16b_32r16x2c", ((0, 0),)),
        (B, "intel_sub_group_2d_block_read_transform_16b_32r16x2c", ((0, 0), (0, 128))),
        (
            TRANSPOSED_B,
            "intel_sub_group_2d_block_read_transpose_32b_32r8x1c",
            ((0, 0), (0, 16), (128, 0), (128, 16)),
        ),
    ],
)
def test_loads_have_these_messages_and_places(layout: BlockLoadLayout, message: str, origins: object) -> None:
    assert (layout.message.name, layout.origins) == (message, origins)


# f16, i8 and tf32, clusters that one message holds and that it does not; M, N, K differ.
SHAPES = [
    (DpasLayout(8, 8, 16, 1, 16, (2, 2), (2, 4)), 32, 64, 128, 16),
    (GEMM, 16, 128, 512, 64),
    (DpasLayout(8, 8, 16, 4, 16, (2, 4), (4, 2)), 8, 128, 256, 64),
    (DpasLayout(8, 8, 16, 2, 16, (1, 2), (8, 4)), 16, 64, 256, 32),
    (DpasLayout(4, 8, 16, 2, 16, (4, 1), (1, 1)), 16, 16, 64, 16),
]


@pytest.mark.parametrize(("dpas", "bits", "m", "n", "k"), few(SHAPES, 2))
@pytest.mark.parametrize("operand", [Operand.A, Operand.B, Operand.B_TRANSPOSED])
def test_loads_bring_each_dpas_its_operand(
    dpas: DpasLayout, bits: int, m: int, n: int, k: int, operand: Operand
) -> None:
    size = {"m": m, "n": n, "k": k}
    shape = size[operand.dims[0]], size[operand.dims[1]]
    layout = block_load_layout(dpas, operand, shape, bits, LIMITS)
    wanted = dpas.tensor_layout(operand, shape)
    brought = layout.message.lane_layout()
    per_slot = max(layout.message.slot_elements, layout.message.bits // bits)
    unit = layout.message.bits // bits
    registers = wanted.in_sizes["register"] // len(layout.shuffles)
    for index, shuffle in enumerate(layout.shuffles):
        assert len(shuffle.slots) * per_slot == registers
        for lane, register in product(range(16), range(registers)):
            slot, part = shuffle.slots[register // per_slot], register % per_slot
            element = slot * per_slot + part
            row, column = brought.apply({"register": element // unit, "lane": lane})
            origin = layout.origins[shuffle.load]
            place = (origin[0] + row, origin[1] + column * unit + element % unit)
            assert place == wanted.apply({"register": index * registers + register, "lane": lane})


@pytest.mark.parametrize(("dpas", "bits", "m", "n", "k"), few(SHAPES, 2))
@pytest.mark.parametrize("operand", [Operand.A, Operand.B, Operand.B_TRANSPOSED])
def test_the_layout_in_elements_covers_what_the_subgroup_needs_once(
    dpas: DpasLayout, bits: int, m: int, n: int, k: int, operand: Operand
) -> None:
    size = {"m": m, "n": n, "k": k}
    shape = size[operand.dims[0]], size[operand.dims[1]]
    elements = block_load_layout(dpas, operand, shape, bits, LIMITS).elements
    wanted = dpas.tensor_layout(operand, shape)
    assert elements.is_injective

    def reach(layout: LinearLayout, names: Sequence[str]) -> set[tuple[int, ...]]:
        return {
            layout.apply(dict(zip(names, at, strict=True)))
            for at in product(*(range(layout.in_sizes[n]) for n in names))
        }

    assert reach(elements, tuple(elements.in_sizes)) == reach(wanted, ("register", "lane"))


def test_smaller_limits_take_more_loads() -> None:
    narrow = BlockLimits(16, 32, 64, 8, 16, 32)
    layout = block_load_layout(GEMM, Operand.A, (256, 32), 16, narrow)
    assert (layout.message.rows, layout.message.array_length) == (16, 1)
    assert layout.origins == ((0, 0), (0, 16), (16, 0), (16, 16))


def test_few_registers_limit_a_message() -> None:
    small = BlockLimits(32, 64, 32, 8, 16, 32)
    layout = block_load_layout(GEMM, Operand.A, (256, 32), 16, small)
    assert layout.message.rows * layout.message.row_bytes == 32 * 32


@pytest.mark.parametrize(
    ("operand", "shape", "limits", "message"),
    [
        (Operand.C, (256, 256), LIMITS, "expected operand a, b or b_transposed"),
        (Operand.A, (256, 24), LIMITS, r"expected a multiple of \(32, 16\) as the tile of operand a, got \(256, 24\)"),
        (Operand.A, (256, 0), LIMITS, r"as the tile of operand a, got \(256, 0\)"),
        (Operand.A, (384, 32), LIMITS, r"sides of a matrix are powers of two here, got \(384, 32\)"),
        (Operand.A, (256 * 3, 32), LIMITS, "expected a power of two of repetitions, got 3"),
        (
            Operand.B,
            (32, 256),
            BlockLimits(8, 64, 64, 8, 16, 32),
            r"no 2-D block message reads tiles \(16, 16\) of 16-bit",
        ),
    ],
)
def test_loads_that_cannot_be_are_refused(
    operand: Operand, shape: tuple[int, int], limits: BlockLimits, message: str
) -> None:
    with pytest.raises(LayoutRefused, match=message):
        block_load_layout(GEMM, operand, shape, 16, limits)
