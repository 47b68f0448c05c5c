"""Kernels written for work-items (SIMT): right numbers, or a message with the operation and the level."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import CompileFailed, Refused, compile_module, simulate_module
from codegen.target import target_of
from codegen.xe.dialects import parse
from codegen.xe.isa import compile_native
from codegen.xe.opt import (
    OptFailed,
    read_passes,
    run_passes,
)
from hal.facts.xe import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.codegen.xe.modules.work_item_kernels import GEMM, GEMM_GRID, draw, gemm_operands
from tests.oracle import interpret

Array = NDArray[Any]

B580 = find("b580")
BLOCKS = "memref<8x16xf32>"
DESC = "!xegpu.tensor_desc<8x16xf32>"
FLAT = "memref<128xf32>"


def kernel(arguments: str, body: str) -> str:
    """A kernel of one sub-group."""
    return f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
{body}
    gpu.return
  }}
}}"""


def run(source: str, *arguments: Array, device: str = "b580", grid: tuple[int, int, int] = (1, 1, 1)) -> None:
    """Compile a kernel and simulate it on arrays that it changes."""
    artifact = compile_module(source, find(device))
    simulate_module(artifact, artifact.kernels[0].name, grid=grid, block=None, args=list(arguments))


def scattered(elements: int) -> str:
    """Each work-item doubles its chunk."""
    return kernel(
        f"%a: {FLAT}, %b: {FLAT}",
        f"""    %tid = gpu.thread_id x
    %c = arith.constant {elements} : index
    %o = arith.muli %tid, %c : index
    %z = arith.constant dense<[0]> : vector<1xindex>
    %off = vector.insert %o, %z[0] : index into vector<1xindex>
    %mask = arith.constant dense<1> : vector<1xi1>
    %v = xegpu.load %a[%off], %mask : {FLAT}, vector<1xindex>, vector<1xi1> -> vector<{elements}xf32>
    %w = arith.addf %v, %v : vector<{elements}xf32>
    xegpu.store %w, %b[%off], %mask : vector<{elements}xf32>, {FLAT}, vector<1xindex>, vector<1xi1>""",
    )


@pytest.mark.parametrize("elements", [1, 8])
def test_every_work_item_stores_its_elements(elements: int) -> None:
    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    run(scattered(elements), a, b)
    stored = 16 * elements
    np.testing.assert_array_equal(b, np.where(np.arange(128) < stored, 2 * a, 0))


def test_indices_in_memory_are_integers_of_64_bits() -> None:
    a, b = np.arange(-50, 78), np.zeros(128, np.int64)
    body = """    %i = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %o = arith.muli %i, %c8 : index
    %yes = arith.constant true
    %v = xegpu.load %a[%o], %yes : memref<128xindex>, index, i1 -> vector<4xindex>
    %w = arith.addi %v, %v : vector<4xindex>
    xegpu.store %w, %b[%o], %yes : vector<4xindex>, memref<128xindex>, index, i1"""
    run(kernel("%a: memref<128xindex>, %b: memref<128xindex>", body), a, b)
    np.testing.assert_array_equal(b, np.where(np.arange(128) % 8 < 4, 2 * a, 0))


@pytest.mark.parametrize(("device", "width"), [("b580", 32), ("a770", 16)])
def test_a_shuffle_is_among_the_work_items_of_a_sub_group(device: str, width: int) -> None:
    body = f"""    %i = gpu.thread_id x
    %one = arith.constant 1 : i32
    %width = arith.constant {width} : i32
    %v = memref.load %a[%i] : {FLAT}
    %s, %p = gpu.shuffle xor %v, %one, %width : f32
    memref.store %s, %a[%i] : {FLAT}"""
    with pytest.raises(CompileFailed, match=rf":7:5: .* at most {width // 2} as width, .*, got {width}\n"):
        compile_module(kernel(f"%a: {FLAT}", body), find(device))


@pytest.mark.parametrize("exponent", ["i8", "i16", "i32"])
def test_exponents_are_of_any_width_up_to_32_bits(exponent: str) -> None:
    a, n = np.linspace(0.5, 2, 16, dtype=np.float32), (np.arange(16) - 8).astype(f"int{exponent[1:]}")
    b, c = np.zeros(16, np.float32), np.zeros(16, np.float32)
    body = f"""    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<16xf32>
    %y = memref.load %n[%i] : memref<16x{exponent}>
    %z = math.fpowi %x, %y : f32, {exponent}
    memref.store %z, %b[%i] : memref<16xf32>
    %one = vector.broadcast %x : f32 to vector<1xf32>
    %of = vector.broadcast %y : {exponent} to vector<1x{exponent}>
    %power = math.fpowi %one, %of : vector<1xf32>, vector<1x{exponent}>
    %last = vector.extract %power[0] : f32 from vector<1xf32>
    memref.store %last, %c[%i] : memref<16xf32>"""
    memory = f"%a: memref<16xf32>, %n: memref<16x{exponent}>, %b: memref<16xf32>, %c: memref<16xf32>"
    run(kernel(memory, body), a, n, b, c)
    np.testing.assert_allclose(b, a.astype(np.float64) ** n, rtol=1e-5)
    np.testing.assert_array_equal(c, b)


def test_a_scalar_argument_of_tf32_is_a_number_of_f32() -> None:
    a, x = np.zeros((8, 16), np.float32), 1.5
    body = f"""    %t = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %y = arith.extf %x : tf32 to f32
    %v = vector.broadcast %y : f32 to vector<8x16xf32>
    xegpu.store_nd %v, %t[0, 0] : vector<8x16xf32>, {DESC}"""
    artifact = compile_module(kernel(f"%a: {BLOCKS}, %x: tf32", body), B580)
    simulate_module(artifact, "k", (1, 1, 1), None, [a, x])
    np.testing.assert_array_equal(a, np.full((8, 16), x, np.float32))


def test_a_block_goes_through_work_items() -> None:
    a, b = np.arange(128, dtype=np.float32).reshape(8, 16), np.zeros((8, 16), np.float32)
    body = f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    %tb = xegpu.create_nd_tdesc %b : {BLOCKS} -> {DESC}
    xegpu.store_nd %w, %tb[0, 0] : vector<8xf32>, {DESC}"""
    run(kernel(f"%a: {BLOCKS}, %b: {BLOCKS}", body), a, b)
    np.testing.assert_array_equal(b, 2 * a)


@pytest.mark.parametrize("device", ["b580", "pvc"])
def test_a_gemm_of_work_items_agrees_with_numpy(device: str) -> None:
    a, b, c = gemm_operands()
    run(GEMM, a, b, c, device=device, grid=GEMM_GRID)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("device", ["b580", "pvc"])
def test_intels_compiler_multiplies_with_dpas(device: str) -> None:
    spec = find(device)
    spirv = compile_module(GEMM, spec).stage("spirv").data
    code = compile_native(real_ocloc(), spirv, target_of(spec))
    assert code.spill_bytes == 0
    assert "dpas.8x8" in code.assembly


REFUSED = {
    "two levels": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8xf32>
    %w = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8x16xf32>
    xegpu.store_nd %v, %ta[0, 0] : vector<8xf32>, {DESC}""",
        "expected operations of one level, got xegpu.load_nd of a work-item and xegpu.load_nd of a whole sub-group",
    ),
    "a layout of work-groups": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8xf32>
    xegpu.store_nd %v, %ta[0, 0] : vector<8xf32>, {DESC}
    xegpu.prefetch_nd %ta[0, 0] <{{layout = #xegpu.layout<sg_layout = [1, 1], sg_data = [8, 16]>}}> : {DESC}""",
        "got xegpu.load_nd of a work-item and layouts with sg_layout, which a work-group has",
    ),
    "a change of layout": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8xf32>
    %c = xegpu.convert_layout %v <{{input_layout = #xegpu.layout<lane_layout = [16], lane_data = [1]>,
      target_layout = #xegpu.layout<lane_layout = [16], lane_data = [1]>}}> : vector<8xf32>
    xegpu.store_nd %v, %ta[0, 0] : vector<8xf32>, {DESC}""",
        "got xegpu.load_nd of a work-item and xegpu.convert_layout of a whole sub-group",
    ),
    "a sub-group of 8": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<16xf32>""",
        "xegpu.load_nd: expected the value of a whole sub-group, 128 elements, or of one of its 16 work-items, 8",
    ),
    "more than one instruction": (
        "%a: memref<16x64xf16>, %b: memref<16x32xf16>",
        """    %ta = xegpu.create_nd_tdesc %a : memref<16x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %v = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %d = xegpu.dpas %v, %v : vector<16xf16>, vector<16xf16> -> vector<16xf32>""",
        "xegpu.dpas at work-item level: expected 16 elements of b, m of d and 1 m of a, for m of 1 to 8",
    ),
    "an unknown distribution": (
        "%a: memref<16x64xf16>, %b: memref<16x32xf16>",
        """    %ta = xegpu.create_nd_tdesc %a : memref<16x64xf16> -> !xegpu.tensor_desc<8x8xf16>
    %v = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x8xf16> -> vector<4xf16>""",
        "xegpu.load_nd at work-item level: expected a layout with lane_layout and lane_data for a block of [8, 8]",
    ),
    "an instruction's share": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] <{{layout = #xegpu.layout<inst_data = [4, 16], lane_layout = [1, 16],
      lane_data = [1, 1]>}}> : {DESC} -> vector<8xf32>""",
        "xegpu.load_nd at work-item level: expected a layout of lane_layout and lane_data alone",
    ),
    "a column of a matrix in one dimension": (
        f"%a: {BLOCKS}, %b: {BLOCKS}",
        f"""    %ta = xegpu.create_nd_tdesc %a : {BLOCKS} -> {DESC}
    %v = xegpu.load_nd %ta[0, 0] : {DESC} -> vector<8xf32>
    %s = memref.alloca() : memref<512xi8, 3>
    %d = xegpu.create_mem_desc %s
      : memref<512xi8, 3> -> !xegpu.mem_desc<8x16xf32, #xegpu.mem_layout<stride = [1, 8]>>
    xegpu.store_matrix %v, %d[0, 0] : vector<8xf32>, !xegpu.mem_desc<8x16xf32, #xegpu.mem_layout<stride = [1, 8]>>""",
        "xegpu.store_matrix at work-item level: expected a value of 2 dimensions",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_not_of_work_items_is_refused(case: tuple[str, str, str]) -> None:
    arguments, body, message = case
    with pytest.raises(CompileFailed, match=re.escape(message)):
        compile_module(kernel(arguments, body), B580)


def check_draw(seed: int) -> None:
    """See that the simulator's numbers of a random kernel are the interpreter's."""
    drawn = draw(seed)
    expected, got = ([a.copy() for a in drawn.arguments] for _ in range(2))
    interpret(parse(drawn.source), "k", (1, 1, 1), expected)
    run(drawn.source, *got, device=("b580", "pvc")[seed % 2])
    for wanted, found in zip(expected, got, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("seed", range(6))
def test_random_forms(seed: int) -> None:
    check_draw(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 400))
def test_more_random_forms(seed: int) -> None:
    check_draw(seed)


def arc(maps: bool) -> str:
    """A product of one sub-group of 8, with or without the maps that the RFC has for it."""
    a, b, c = (
        f", #xegpu.sg_map<wi_layout = [1, 8], wi_data = {data}>" if maps else ""
        for data in ("[1, 2]", "[2, 1]", "[1, 1]")
    )
    return kernel(
        "%a: memref<16x48xf16>, %b: memref<32x48xf16>, %c: memref<16x48xf32>",
        f"""    %ta = xegpu.create_nd_tdesc %a : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16{a}>
    %tb = xegpu.create_nd_tdesc %b : memref<32x48xf16> -> !xegpu.tensor_desc<16x8xf16{b}>
    %tc = xegpu.create_nd_tdesc %c : memref<16x48xf32> -> !xegpu.tensor_desc<8x8xf32{c}>
    %va = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xf16{a}> -> vector<16xf16>
    %vb = xegpu.load_nd %tb[16, 8] : !xegpu.tensor_desc<16x8xf16{b}> -> vector<16xf16>
    %d = xegpu.dpas %va, %vb : vector<16xf16>, vector<16xf16> -> vector<8xf32>
    xegpu.store_nd %d, %tc[0, 8] : vector<8xf32>, !xegpu.tensor_desc<8x8xf32{c}>""",
    ).replace("i32: 16,", "i32: 8,")


def test_work_items_of_a_sub_group_of_8_say_what_they_hold() -> None:
    a, b, _ = gemm_operands()
    a, b, c = a[:16, :48].copy(), b[:32, :48].copy(), np.zeros((16, 48), np.float32)
    run(arc(maps=True), a, b, c, device="a770")
    expected = a[8:16, 16:32].astype(np.float64) @ b[16:32, 8:16].astype(np.float64)
    np.testing.assert_allclose(c[:8, 8:16], expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(CompileFailed, match="at work-item level: expected a layout with lane_layout and lane_data"):
        compile_module(arc(maps=False), find("a770"))


def test_the_pass_alone_reads_the_level_from_the_types() -> None:
    lanes = run_passes(scattered(8), read_passes(["distribute-to-subgroups", "lower-to-lanes"]))
    assert "llvm.load" in lanes
    assert "xegpu" not in lanes
    with pytest.raises(OptFailed, match="expected operations of one level"):
        run_passes(kernel(*REFUSED["two levels"][:2]), read_passes(["lower-to-lanes"]))


def test_registers_are_those_of_all_work_items() -> None:
    body = """    %i = gpu.lane_id
    %yes = arith.constant true
    %v = xegpu.load %a[%i], %yes : memref<128xf32>, index, i1 -> vector<4096xf32>
    xegpu.store %v, %a[%i], %yes : vector<4096xf32>, memref<128xf32>, index, i1"""
    with pytest.raises(Refused, match="module-registers"):
        compile_module(kernel(f"%a: {FLAT}", body), B580)
