"""Layouts of DPAS operands against the document's views and the simulator's DPAS."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.xe.layout import (
    DpasLayout,
    LayoutRefused,
    Operand,
    hardware_view,
    work_item_table,
)
from tests.codegen.ir_snippets import LANES, run

LISTINGS = Path(__file__).parent / "listings"
GEMM = DpasLayout(8, 8, 16, 2, 16, (8, 4), (4, 2))


def listing(name: str) -> list[str]:
    """A listing of the document, line by line."""
    return (LISTINGS / f"{name}.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("operand", "shape", "name"),
    [(Operand.A, (256, 32), "a_hardware_view"), (Operand.B, (32, 256), "b_hardware_view")],
)
def test_the_hardware_view_is_the_documents(operand: Operand, shape: tuple[int, int], name: str) -> None:
    assert hardware_view(GEMM.tensor_layout(operand, shape)).splitlines() == listing(name)


@pytest.mark.parametrize(
    ("operand", "packed", "name"), [(Operand.A, 1, "a_work_items"), (Operand.B, 2, "b_work_items")]
)
def test_the_table_of_work_items_is_the_documents(operand: Operand, packed: int, name: str) -> None:
    assert work_item_table(GEMM.tile_layout(operand), packed).splitlines() == listing(name)


def test_clusters_are_those_that_the_encoding_prints() -> None:
    assert [GEMM.cluster_shape(o) for o in (Operand.A, Operand.B, Operand.C)] == [(32, 16), (16, 32), (32, 32)]


def test_warps_follow_n_then_m() -> None:
    def first(operand: Operand, shape: tuple[int, int], warp: int) -> tuple[int, ...]:
        return GEMM.tensor_layout(operand, shape).apply({"warp": warp})

    assert [first(Operand.A, (256, 32), w) for w in (1, 4, 31)] == [(0, 0), (32, 0), (224, 0)]
    assert [first(Operand.B, (32, 256), w) for w in (1, 4, 31)] == [(0, 32), (0, 0), (0, 96)]
    assert [first(Operand.C, (256, 256), w) for w in (1, 4, 31)] == [(0, 32), (32, 0), (224, 96)]


def test_every_element_of_c_has_one_place() -> None:
    layout = GEMM.tensor_layout(Operand.C, (256, 256))
    assert layout.is_injective
    assert layout.in_sizes == {"register": 128, "lane": 16, "warp": 32}


def test_a_cluster_of_c_goes_along_n_first() -> None:
    layout = GEMM.tensor_layout(Operand.C, (256, 256))
    places = [layout.apply({"register": r}) for r in (8, 16, 32, 64)]
    assert places == [(0, 16), (8, 0), (16, 0), (0, 128)]


def test_warps_share_a_tensor_that_is_too_small() -> None:
    layout = GEMM.tensor_layout(Operand.A, (64, 32))
    assert layout.out_sizes == {"dim0": 64, "dim1": 32}
    assert [layout.apply({"warp": w})[0] for w in (0, 4, 8, 12)] == [0, 32, 0, 32]


def test_transposed_b_is_b_with_its_sides_swapped() -> None:
    b, stored = GEMM.tensor_layout(Operand.B, (32, 256)), GEMM.tensor_layout(Operand.B_TRANSPOSED, (256, 32))
    for at in ({"register": 77, "lane": 5, "warp": 3}, {"register": 18, "lane": 15, "warp": 30}):
        assert stored.apply(at) == b.apply(at)[::-1]


# (element, ops_per_chan, kind of DPAS, its operand types, element type of the accumulator)
KINDS = [
    ("f16", 2, "f16_f16", ("i16", "i32"), "float"),
    ("si8", 4, "i8_i8", ("i16", "i32"), "i32"),
    ("tf32", 1, "tf32_tf32", ("float", "float"), "float"),
]


@pytest.mark.parametrize(("element", "ops", "kind", "types", "acc"), KINDS)
@pytest.mark.parametrize("m", [8, 4])
def test_operands_laid_out_so_multiply_right(
    element: str, ops: int, kind: str, types: tuple[str, str], acc: str, m: int
) -> None:
    dpas = DpasLayout(m, 8, 16, ops, 16, (1, 1), (1, 1))
    dtype = {"f16": np.float16, "si8": np.int8, "tf32": np.float32}[element]
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, size=s).astype(dtype) for s in ((m, 8 * ops), (8 * ops, 16)))
    by_lane = np.concatenate([_held(dpas, Operand.A, a), _held(dpas, Operand.B, b)], axis=1)
    operands = np.ascontiguousarray(by_lane).view(np.uint8)
    out = np.zeros((LANES, m), np.int32 if acc == "i32" else np.float32)
    words_a = a.size * a.itemsize // LANES // (4 if types[0] == "float" else 2)
    name = f"intel_sub_group_{kind}_matrix_mad_k{8 * ops}"
    vector_a, vector_b, vector = f"<{words_a} x {types[0]}>", f"<8 x {types[1]}>", f"<{m} x {acc}>"
    run(
        f"""
  %at = mul i64 %lane, {operands.shape[1]}
  %pa = getelementptr i8, ptr addrspace(1) %A, i64 %at
  %pb = getelementptr i8, ptr addrspace(1) %pa, i64 {a.size * a.itemsize // LANES}
  %a = load {vector_a}, ptr addrspace(1) %pa, align 2
  %b = load {vector_b}, ptr addrspace(1) %pb, align 2
  %d = call spir_func {vector} @_Z{len(name)}{name}X({vector_a} %a, {vector_b} %b, {vector} zeroinitializer)
  %to = getelementptr {vector}, ptr addrspace(1) %B, i64 %lane
  store {vector} %d, ptr addrspace(1) %to, align 2
  ret void""",
        operands,
        out,
    )
    expected = a.astype(np.float64) @ b.astype(np.float64)
    layout = dpas.tile_layout(Operand.C)
    for lane in range(LANES):
        for register in range(m):
            assert out[lane, register] == expected[layout.apply({"register": register, "lane": lane})]


def _held(dpas: DpasLayout, operand: Operand, matrix: np.ndarray) -> np.ndarray:
    layout = dpas.tile_layout(operand)
    registers = range(layout.in_sizes["register"])
    return np.array([[matrix[layout.apply({"register": r, "lane": lane})] for r in registers] for lane in range(LANES)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DpasLayout(6, 8, 16, 2, 16, (1, 1), (1, 1)), "sizes of a DPAS layout are powers of two"),
        (lambda: DpasLayout(8, 8, 16, 2, 16, (3, 1), (1, 1)), "sizes of a DPAS layout are powers of two"),
        (lambda: DpasLayout(8, 8, 16, 2, 8, (1, 1), (1, 1)), "a warp of 8 lanes does not run 16 channels"),
    ],
)
def test_impossible_instructions_are_refused(make: Callable[[], DpasLayout], message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        make()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((256, 8), "an instruction takes 16 of K, the matrix has 8"),
        ((384, 32), r"sides of a matrix are powers of two here, got \(384, 32\)"),
    ],
)
def test_tensors_that_no_instruction_takes_are_refused(shape: tuple[int, int], message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        GEMM.tensor_layout(Operand.A, shape)
