"""Scattered elements, atomics and shared local memory in lane code; barriers; what has no lane code."""

import re

import numpy as np
import pytest
from xdsl.utils.exceptions import PassFailedException

from codegen.simulate import RaceDetected
from codegen.xe.dialects import parse
from codegen.xe.passes.lanes import lower_to_lanes
from tests.codegen.xe.passes.lanes.lane_kernels import DTYPES, check, compiled, kernel, lanes_text, numbers
from tests.few import few

MASK = "%n = arith.constant 11 : index %mask = vector.create_mask %n : vector<16xi1>"


def test_gather_at_offsets_that_memory_says() -> None:
    body = f"""
    {MASK}
    %id = xegpu.create_nd_tdesc %I : memref<16xi32> -> !xegpu.tensor_desc<16xi32>
    %i = xegpu.load_nd %id[%c0] : !xegpu.tensor_desc<16xi32> -> vector<16xi32>
    %at = arith.index_cast %i : vector<16xi32> to vector<16xindex>
    %v = xegpu.load %A[%at], %mask : memref<64xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
    %to = vector.step : vector<16xindex>
    %all = arith.constant dense<true> : vector<16xi1>
    xegpu.store %v, %O[%to], %all : vector<16xf32>, memref<16xf32>, vector<16xindex>, vector<16xi1>"""
    source = kernel("%A: memref<64xf32>, %I: memref<16xi32>, %O: memref<16xf32>", body)
    at = np.random.default_rng(1).permutation(64)[:16].astype(np.int32)
    a = numbers("f32", 64)
    *_, out = check(source, [a, at, np.full(16, 7, np.float32)])
    np.testing.assert_array_equal(out, np.where(np.arange(16) < 11, a[at], 0))


@pytest.mark.parametrize(("chunk", "count"), [(8, 16), (2, 16), (3, 16), (4, 32)])
def test_chunks_are_vectors_of_their_lanes(chunk: int, count: int) -> None:
    desc = f"!xegpu.tensor_desc<{count}x{chunk}xf32, #xegpu.scatter_tdesc_attr<chunk_size = {chunk}>>"
    value, mask = f"vector<{count}x{chunk}xf32>", f"vector<{count}xi1>"
    body = f"""
    %n = arith.constant {count - 3} : index
    %mask = vector.create_mask %n : {mask}
    %ids = vector.step : vector<{count}xindex>
    %apart = arith.constant dense<{chunk + 5}> : vector<{count}xindex>
    %at = arith.muli %ids, %apart : vector<{count}xindex>
    %a = xegpu.create_tdesc %A, %at : memref<2048xf32>, vector<{count}xindex> -> {desc}
    xegpu.prefetch %a <{{l1_hint = #xegpu.cache_hint<cached>}}> : {desc}
    %further = xegpu.update_offset %a, %apart : {desc}, vector<{count}xindex>
    %v = xegpu.load %further, %mask : {desc}, {mask} -> {value}
    %w = arith.addf %v, %v : {value}
    %o = xegpu.create_tdesc %O, %at : memref<2048xf32>, vector<{count}xindex> -> {desc}
    xegpu.store %w, %o, %mask : {value}, {desc}, {mask}"""
    source = kernel("%A: memref<2048xf32>, %O: memref<2048xf32>", body)
    ll = compiled(source).ll
    assert "sub_group_shuffle" not in ll  # the elements stay in the lane of their offset
    assert chunk == 3 or f"load <{chunk} x float>" in ll
    check(source, [numbers("f32", 2048), np.zeros(2048, np.float32)])


def test_chunks_in_columns() -> None:
    desc = "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>>"
    body = f"""
    %all = arith.constant dense<true> : vector<16xi1>
    %ids = vector.step : vector<16xindex>
    %apart = arith.constant dense<9> : vector<16xindex>
    %at = arith.muli %ids, %apart : vector<16xindex>
    %a = xegpu.create_tdesc %A, %at : memref<256xf32>, vector<16xindex> -> {desc}
    %v = xegpu.load %a, %all <{{transpose}}> : {desc}, vector<16xi1> -> vector<4x16xf32>
    %o = xegpu.create_nd_tdesc %O : memref<4x16xf32> -> !xegpu.tensor_desc<4x16xf32>
    xegpu.store_nd %v, %o[0, 0] : vector<4x16xf32>, !xegpu.tensor_desc<4x16xf32>"""
    source = kernel("%A: memref<256xf32>, %O: memref<4x16xf32>", body)
    check(source, [numbers("f32", 256), np.zeros((4, 16), np.float32)])


def test_offsets_that_are_listed() -> None:
    desc = "!xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<>>"
    body = f"""
    %all = arith.constant dense<true> : vector<4xi1>
    %a = xegpu.create_tdesc %A[0, %c16, 5, %c8] : memref<64xf32> -> {desc}
    %v = xegpu.load %a, %all : {desc}, vector<4xi1> -> vector<4xf32>
    %o = xegpu.create_tdesc %A[1, 2, 3, 4] : memref<64xf32> -> {desc}
    xegpu.store %v, %o, %all : vector<4xf32>, {desc}, vector<4xi1>"""
    check(kernel("%A: memref<64xf32>", body), [numbers("f32", 64)])


def atomic(kind: str, element: str) -> str:
    desc = f"!xegpu.tensor_desc<16x{element}, #xegpu.scatter_tdesc_attr<>>"
    block = f"!xegpu.tensor_desc<16x{element}>"
    return kernel(
        f"%A: memref<64x{element}>, %V: memref<16x{element}>, %O: memref<16x{element}>",
        f"""
    {MASK}
    %ids = vector.step : vector<16xindex>
    %two = arith.constant dense<2> : vector<16xindex>
    %at = arith.muli %ids, %two : vector<16xindex>
    %vd = xegpu.create_nd_tdesc %V : memref<16x{element}> -> {block}
    %v = xegpu.load_nd %vd[%c0] : {block} -> vector<16x{element}>
    %d = xegpu.create_tdesc %A, %at : memref<64x{element}>, vector<16xindex> -> {desc}
    %old = xegpu.atomic_rmw {kind} %d, %mask, %v : {desc}, vector<16xi1>, vector<16x{element}> -> vector<16x{element}>
    %od = xegpu.create_nd_tdesc %O : memref<16x{element}> -> {block}
    xegpu.store_nd %old, %od[%c0] : vector<16x{element}>, {block}""",
    )


@pytest.mark.parametrize(
    ("kind", "element", "instruction"),
    few(
        [
            ("addf", "f32", "atomicrmw fadd"),
            ("addi", "i32", "atomicrmw add"),
            ("addi", "i64", "atomicrmw add"),
            ("assign", "f32", "atomicrmw xchg"),
            ("maxs", "i32", "atomicrmw max"),
            ("minu", "i32", "atomicrmw umin"),
            ("ori", "i32", "atomicrmw or"),
            ("andi", "i32", "atomicrmw and"),
            ("xori", "i32", "atomicrmw xor"),
            ("mulf", "f32", "cmpxchg"),
            ("maximumf", "f32", "cmpxchg"),
            ("minnumf", "f32", "cmpxchg"),
            ("muli", "i32", "cmpxchg"),
        ],
        4,
    ),
)
def test_atomic_updates(kind: str, element: str, instruction: str) -> None:
    source = atomic(kind, element)
    assert instruction in compiled(source).ll
    values = [numbers(element, 64), numbers(element, 16, seed=6)]
    check(source, [*values, np.zeros(16, DTYPES[element])])


def test_copies_of_an_element_update_memory_once() -> None:
    """A row of 8 elements is in 16 lanes twice."""
    desc = "!xegpu.tensor_desc<4x8xf32, #xegpu.scatter_tdesc_attr<>>"
    body = f"""
    %ids = vector.step : vector<32xindex>
    %at = vector.shape_cast %ids : vector<32xindex> to vector<4x8xindex>
    %mask = vector.constant_mask [3, 7] : vector<4x8xi1>
    %v = arith.constant dense<1.5> : vector<4x8xf32>
    %d = xegpu.create_tdesc %A, %at : i64, vector<4x8xindex> -> {desc}
    %old = xegpu.atomic_rmw addf %d, %mask, %v : {desc}, vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    %od = xegpu.create_nd_tdesc %O : memref<4x8xf32> -> !xegpu.tensor_desc<4x8xf32>
    xegpu.store_nd %old, %od[0, 0] : vector<4x8xf32>, !xegpu.tensor_desc<4x8xf32>"""
    a = numbers("f32", 32)
    out, _ = check(kernel("%A: i64, %O: memref<4x8xf32>", body), [a, np.zeros((4, 8), np.float32)])
    assert isinstance(out, np.ndarray)
    touched = np.zeros((4, 8), np.bool_)
    touched[:3, :7] = True
    np.testing.assert_array_equal(
        out.reshape(4, 8), np.where(touched, a.reshape(4, 8) + np.float32(1.5), a.reshape(4, 8))
    )


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
def test_each_lane_loads_an_element_that_all_lanes_hold(element: str) -> None:
    """The last rows are outside the matrix."""
    body = f"""
    %rows = xegpu.create_nd_tdesc %A : memref<37x1x{element}> -> !xegpu.tensor_desc<24x1x{element}>
    %row = xegpu.load_nd %rows[%c16, 0] : !xegpu.tensor_desc<24x1x{element}> -> vector<24x1x{element}>
    %all = vector.broadcast %row : vector<24x1x{element}> to vector<24x16x{element}>
    %od = xegpu.create_nd_tdesc %O : memref<24x16x{element}> -> !xegpu.tensor_desc<24x16x{element}>
    xegpu.store_nd %all, %od[0, 0] : vector<24x16x{element}>, !xegpu.tensor_desc<24x16x{element}>"""
    source = kernel(f"%A: memref<37x1x{element}>, %O: memref<24x16x{element}>", body)
    assert len(re.findall(r"= load \S+, ptr addrspace\(1\)", compiled(source).ll)) == 2
    a = numbers(element, 37)
    _, out = check(source, [a.reshape(37, 1), np.zeros((24, 16), DTYPES[element])])
    assert isinstance(out, np.ndarray)
    rows = np.concatenate([a[16:], np.zeros(3, a.dtype)])
    np.testing.assert_array_equal(out.reshape(24, 16), np.broadcast_to(rows[:, None], (24, 16)))


def exchange(element: str, layout: str, *, alloc: str = "memref.alloca()", nbytes: int = 4096) -> str:
    """Two sub-groups swap halves of [32, 64] through local memory; a part is read by a view."""
    whole = f"!xegpu.mem_desc<32x64x{element}{layout}>"
    half = f"!xegpu.tensor_desc<32x32x{element}>"
    part = f"!xegpu.mem_desc<16x32x{element}{layout or ', #xegpu.mem_layout<stride = [64, 1]>'}>"
    return kernel(
        f"%A: memref<32x64x{element}>, %O: memref<32x64x{element}>",
        f"""
    %id = gpu.subgroup_id : index
    %mine = arith.muli %id, %c32 : index
    %other = arith.subi %c32, %mine : index
    %ad = xegpu.create_nd_tdesc %A : memref<32x64x{element}> -> {half}
    %a = xegpu.load_nd %ad[%c0, %mine] : {half} -> vector<32x32x{element}>
    %m = {alloc} : memref<{nbytes}xi8, 3>
    %md = xegpu.create_mem_desc %m : memref<{nbytes}xi8, 3> -> {whole}
    xegpu.store_matrix %a, %md[%c0, %mine] : vector<32x32x{element}>, {whole}
    gpu.barrier
    %v = xegpu.load_matrix %md[%c0, %other] : {whole} -> vector<32x32x{element}>
    %sub = xegpu.mem_desc_subview %md[%c16, %other] : {whole} -> {part}
    %w = xegpu.load_matrix %sub[0, %c16] : {part} -> vector<16x16x{element}>
    %x = vector.insert_strided_slice %w, %v {{offsets = [0, 0], strides = [1, 1]}}
      : vector<16x16x{element}> into vector<32x32x{element}>
    %od = xegpu.create_nd_tdesc %O : memref<32x64x{element}> -> {half}
    xegpu.store_nd %x, %od[%c0, %mine] : vector<32x32x{element}>, {half}""",
        subgroups=2,
    )


@pytest.mark.parametrize(
    ("element", "layout"),
    [
        ("f16", ""),
        ("f16", ", #xegpu.mem_layout<stride = [1, 32]>"),
        ("f16", ", #xegpu.mem_layout<stride = [64, 1], block = [8, 16]>"),
        ("f16", ", #xegpu.mem_layout<stride = [1, 32], block = [16, 8]>"),
    ],
)
def test_matrices_in_local_memory(element: str, layout: str) -> None:
    source = exchange(element, layout)
    a = numbers(element, 32, 64)
    _, out = check(source, [a, np.zeros_like(a)])
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out[16:, :32], a[16:, 32:])


def test_a_barrier_that_is_missing_is_a_race() -> None:
    with pytest.raises(RaceDetected):
        check(
            exchange("f16", "").replace("gpu.barrier\n", "\n"), [numbers("f16", 32, 64), np.zeros((32, 64), np.float16)]
        )


RING = """
    %id = gpu.subgroup_id : index
    %mine = arith.muli %id, %c16 : index
    %ad = xegpu.create_nd_tdesc %A : memref<32x64xf16> -> !xegpu.tensor_desc<16x64xf16>
    %a = xegpu.load_nd %ad[%mine, %c0] : !xegpu.tensor_desc<16x64xf16> -> vector<16x64xf16>
    %m = memref.alloc() : memref<32x64xf16, 3>
    %md = xegpu.create_mem_desc %m : memref<32x64xf16, 3> -> !xegpu.mem_desc<32x64xf16>
    xegpu.store_matrix %a, %md[%mine, 0] : vector<16x64xf16>, !xegpu.mem_desc<32x64xf16>
    gpu.barrier
    %other = arith.subi %c16, %mine : index
    %v = xegpu.load_matrix %md[%other, 0] : !xegpu.mem_desc<32x64xf16> -> vector<16x64xf16>"""


def test_local_memory_lies_so_that_lanes_take_vectors() -> None:
    store = """
    %od = xegpu.create_nd_tdesc %O : memref<32x64xf16> -> !xegpu.tensor_desc<16x64xf16>
    xegpu.store_nd %v, %od[%mine, %c0] : vector<16x64xf16>, !xegpu.tensor_desc<16x64xf16>"""
    source = kernel("%A: memref<32x64xf16>, %O: memref<32x64xf16>", RING + store, subgroups=2)
    ll = compiled(source).ll
    assert len(re.findall(r"store <8 x (half|i16)> .*addrspace\(3\).*align 16", ll)) == 8
    assert len(re.findall(r"load <8 x (half|i16)>, ptr addrspace\(3\).*align 16", ll)) == 8
    check(source, [numbers("f16", 32, 64), np.zeros((32, 64), np.float16)])


def test_local_memory_of_what_is_transposed_lies_the_other_way_round() -> None:
    store = """
    %t = vector.transpose %v, [1, 0] : vector<16x64xf16> to vector<64x16xf16>
    %od = xegpu.create_nd_tdesc %O : memref<64x32xf16> -> !xegpu.tensor_desc<64x16xf16>
    xegpu.store_nd %t, %od[%c0, %mine] : vector<64x16xf16>, !xegpu.tensor_desc<64x16xf16>"""
    source = kernel("%A: memref<32x64xf16>, %O: memref<64x32xf16>", RING + store, subgroups=2)
    ll = compiled(source).ll
    assert "read_transpose_32b" in ll
    assert "sub_group_shuffle" not in ll
    assert len(re.findall(r"load <8 x (half|i16)>, ptr addrspace\(3\)", ll)) == 8
    check(source, [numbers("f16", 32, 64), np.zeros((64, 32), np.float16)])


def test_buffers_of_a_kernel_share_one_global() -> None:
    body = """
    %a = memref.alloca() : memref<40xi8, 3>
    %b = memref.alloc() : memref<4x8xf32, 3>
    %one = arith.constant 1.5 : f32
    memref.store %one, %b[%c1, %c1] : memref<4x8xf32, 3>
    gpu.barrier
    %v = memref.load %b[%c1, %c1] : memref<4x8xf32, 3>
    memref.dealloc %b : memref<4x8xf32, 3>
    memref.store %v, %O[%c1] : memref<4xf32>"""
    source = kernel("%O: memref<4xf32>", body)
    assert (
        "llvm.mlir.global internal @k_local() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<192 x i8>"
        in (lanes_text(source))
    )
    (out,) = check(source, [np.zeros(4, np.float32)])
    np.testing.assert_array_equal(out, [0, 1.5, 0, 0])


def _product(a: str, b: str, d: str) -> str:
    zero = "0" if a.endswith("i8") else "0.0"
    return kernel(
        "%O: memref<4xf32>",
        f"%a = arith.constant dense<{zero}> : vector<{a}> %b = arith.constant dense<{zero}> : vector<{b}> "
        f"%d = xegpu.dpas %a, %b : vector<{a}>, vector<{b}> -> vector<{d}>",
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            kernel(
                "%O: memref<4xf32>",
                "%a = arith.constant dense<1.0> : vector<8x24xf16> %b = arith.constant dense<1.0> : vector<24x16xf16> "
                "%d = xegpu.dpas %a, %b : vector<8x24xf16>, vector<24x16xf16> -> vector<8x16xf32>",
            ),
            "expected a dpas of f16 with K a multiple of 16, got K 24: pad A and B with zeros, as loads of tiles that "
            "reach beyond a matrix do",
        ),
        (
            kernel(
                "%O: memref<4xf32>",
                "%a = arith.constant dense<1.0> : vector<8x16xf64> %b = arith.constant dense<1.0> : vector<16x16xf64> "
                "%d = xegpu.dpas %a, %b : vector<8x16xf64>, vector<16x16xf64> -> vector<8x16xf64>",
            ),
            "expected a and b of dpas alike, of f16, bf16, tf32 or i8, got f64 and f64",
        ),
        (
            _product("8x16xf32", "16x16xf32", "8x16xf32"),
            "expected a and b of dpas alike, of f16, bf16, tf32 or i8, got f32 and f32: arith.truncf rounds them to "
            "tf32, vector.contract multiplies them in f32",
        ),
        (
            _product("8x16xf16", "16x16xf16", "8x16xf64"),
            "expected a dpas of f16 with sums of at most 32 bits, got f64: extend them afterwards, or multiply with "
            "vector.contract",
        ),
        (
            _product("8x32xi8", "32x16xi8", "8x16xi8"),
            "expected a dpas of i8 and i8 with sums in i32, which do not wrap, got i8: convert them afterwards",
        ),
        (
            atomic("addf", "f16"),
            "expected atomic updates of elements of 32 or 64 bits, got f16: update a matrix of f32",
        ),
        (
            kernel("%A: memref<8x16xf32>", "%v = vector.load %A[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>"),
            "expected an operation with a per-lane form, got vector.load",
        ),
        (
            kernel("%n: index", "%m = memref.alloca(%n) : memref<?xi8, 3>"),
            "expected local memory of known size, got memref<?xi8, 3 : i64>",
        ),
        (
            kernel(
                "%A: memref<64x64xf32>, %B: memref<64x64xf32>",
                """
    %a = xegpu.create_nd_tdesc %A[0, 0] : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %b = xegpu.create_nd_tdesc %B[0, 0] : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%d = %a) -> (!xegpu.tensor_desc<8x16xf32>) {
      scf.yield %b : !xegpu.tensor_desc<8x16xf32>
    }""",
            ),
            "expected a region to carry descriptors of one memory, got two",
        ),
    ],
)  # fmt: skip
def test_refusals(source: str, message: str) -> None:
    module = parse(source)
    with pytest.raises(PassFailedException, match=re.escape(f"lower-to-lanes: {message}")):
        lower_to_lanes(module)
