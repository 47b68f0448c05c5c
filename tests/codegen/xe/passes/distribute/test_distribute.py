"""The distribution to sub-groups does what the work-group-level kernel says."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.xe.passes.distribute.distribute_kernels import (
    assert_agrees,
    copy_kernel,
    kernel,
    layout,
    numbers,
    run,
)
from tests.few import few

A, B, C = layout([2, 2], [16, 32]), layout([2, 2], [32, 16]), layout([2, 2], [16, 16])


def gemm(a: str, b: str, c: str, prefetch: str = "", epilogue: str = "", more: str = "") -> str:
    """C [64, 32] += A [64, 96] @ B [96, 32], K by 32."""
    return kernel(
        f"%A: memref<64x96xf16>, %B: memref<96x32xf16>, %C: memref<64x32xf32>{more}",
        f"""
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %ta = xegpu.create_nd_tdesc %A : memref<64x96xf16> -> !xegpu.tensor_desc<64x32xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<96x32xf16> -> !xegpu.tensor_desc<32x32xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  %z = xegpu.load_nd %tc[0, 0] <{{layout = {c}}}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
  %r = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %z) -> (vector<64x32xf32>) {{
    {prefetch}
    %a = xegpu.load_nd %ta[0, %k] <{{layout = {a}}}> : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
    %b = xegpu.load_nd %tb[%k, 0] <{{layout = {b}}}> : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    %d = xegpu.dpas %a, %b, %acc {{layout_a = {a}, layout_b = {b}, layout_cd = {c}}}
      : vector<64x32xf16>, vector<32x32xf16>, vector<64x32xf32> -> vector<64x32xf32>
    scf.yield %d : vector<64x32xf32>
  }}
  {epilogue or "%e = arith.addf %r, %r : vector<64x32xf32>"}
  xegpu.store_nd %e, %tc[0, 0] <{{layout = {c}}}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>""",
    )


MATRICES = [numbers(64, 96, dtype="float16"), numbers(96, 32, dtype="float16", seed=1), numbers(64, 32, seed=2)]


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (A, B, C),  # two rounds of rows; operands shared along a dimension
        (layout([4, 1], [16, 32]), layout([4, 1], [32, 32]), layout([4, 1], [16, 32])),
        (layout([2, 4], [32, 32]), layout([2, 4], [32, 8]), layout([2, 4], [32, 8])),
        (layout([2, 2], [16, 16]), B, C),  # k in blocks that other sub-groups have: an exchange makes it whole
        (layout([4, 1], [8, 16]), layout([4, 1], [16, 32]), layout([4, 1], [8, 32])),  # two blocks of k of their own
        (layout([2, 2], [16, 32], [0, 1]), layout([2, 2], [32, 16], [0, 1]), layout([2, 2], [16, 16], [0, 1])),
        (layout([4, 2], [32, 32]), layout([4, 2], [32, 32]), layout([4, 2], [32, 32])),  # sub-groups that share all
    ],
)
def test_gemm(a: str, b: str, c: str) -> None:
    _, _, got = assert_agrees(gemm(a, b, c), list(MATRICES))
    left, right, before = (m.astype(np.float64) for m in MATRICES)
    np.testing.assert_array_equal(np.asarray(got), 2 * (left @ right + before))


def test_cooperative_prefetch_beside_the_layouts_that_compute() -> None:
    prefetch = f"""xegpu.prefetch_nd %ta[0, %k] <{{layout = {layout([4, 1], [16, 32])}}}>
      : !xegpu.tensor_desc<64x32xf16>"""
    assert_agrees(gemm(A, B, C, prefetch), list(MATRICES))


def test_transposed_b() -> None:
    columns = layout([2, 2], [16, 32], [0, 1])
    source = gemm(A, B, C)
    source = source.replace("%B: memref<96x32xf16>", "%B: memref<32x96xf16>").replace(
        "%B : memref<96x32xf16>", "%B : memref<32x96xf16>"
    )
    source = source.replace(
        f"%b = xegpu.load_nd %tb[%k, 0] <{{layout = {B}}}>", f"%bt = xegpu.load_nd %tb[0, %k] <{{layout = {columns}}}>"
    )
    source = source.replace(
        "    %d = ",
        f"    %b = vector.transpose %bt, [1, 0] {{layout_result_0 = {B}}} : vector<32x32xf16> to vector<32x32xf16>\n"
        "    %d = ",
    )
    assert "%bt" in source
    assert_agrees(source, [MATRICES[0], numbers(32, 96, dtype="float16", seed=1), MATRICES[2]])


ROW = "%t = vector.shape_cast %s : vector<32xf32> to vector<1x32xf32>"


@pytest.mark.parametrize("kind", few(["add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf"], 3))
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("c", [C, layout([4, 1], [16, 32]), layout([1, 4], [32, 8]), layout([2, 2], [8, 8])])
def test_reductions_of_floats_broadcast_back(kind: str, dim: int, c: str) -> None:
    kept = 32 if dim == 0 else 64
    shape = "1x32" if dim == 0 else "64x1"
    middle = f"""
  %z = arith.constant dense<1.0> : vector<{kept}xf32>
  %s = vector.multi_reduction <{kind}>, %v, %z [{dim}] : vector<64x32xf32> to vector<{kept}xf32>
  %t = vector.shape_cast %s : vector<{kept}xf32> to vector<{shape}xf32>
  %u = vector.broadcast %t : vector<{shape}xf32> to vector<64x32xf32>
  %w = arith.addf %v, %u : vector<64x32xf32>"""
    values = np.where(numbers(64, 32) > 0, np.float32(2), np.float32(-1))
    assert_agrees(copy_kernel(64, 32, c, middle, c), [values, np.zeros((64, 32), "float32")])


@pytest.mark.parametrize("kind", ["add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor"])
def test_reductions_of_integers(kind: str) -> None:
    middle = f"""
  %z = arith.constant dense<7> : vector<32xi32>
  %s = vector.multi_reduction <{kind}>, %v, %z [0] : vector<64x32xi32> to vector<32xi32>
  %u = vector.broadcast %s : vector<32xi32> to vector<64x32xi32>
  %w = arith.addi %v, %u : vector<64x32xi32>"""
    assert_agrees(
        copy_kernel(64, 32, C, middle, C, "i32"), [numbers(64, 32, dtype="int32"), np.zeros((64, 32), "int32")]
    )


def test_a_reduction_to_one_number() -> None:
    middle = """
  %z = arith.constant 5.0 : f32
  %s = vector.multi_reduction <add>, %v, %z [0, 1] : vector<64x32xf32> to f32
  %u = vector.broadcast %s : f32 to vector<64x32xf32>
  %w = arith.addf %v, %u : vector<64x32xf32>"""
    values = numbers(64, 32)
    _, got = assert_agrees(copy_kernel(64, 32, C, middle, C), [values, np.zeros((64, 32), "float32")])
    np.testing.assert_array_equal(np.asarray(got), values + values.sum() + 5)


LAYOUTS = [
    ([2, 2], [16, 16], None),
    ([4, 1], [16, 32], None),
    ([1, 4], [64, 8], None),
    ([2, 2], [8, 8], [0, 1]),
    ([4, 1], [4, 32], None),
    ([2, 1], [32, 32], None),
    ([4, 4], [64, 32], None),
]


@pytest.mark.parametrize(("source", "target"), few(product(LAYOUTS, repeat=2), 3))
def test_convert_layout(source: tuple[list[int], ...], target: tuple[list[int], ...]) -> None:
    before, after = layout(*source), layout(*target)
    middle = f"""%w = xegpu.convert_layout %v <{{input_layout = {before}, target_layout = {after}}}>
    : vector<64x32xf32>"""
    assert_agrees(copy_kernel(64, 32, before, middle, after), [numbers(64, 32), np.zeros((64, 32), "float32")])


COUNTS = st.sampled_from([(4, 2), (2, 4), (8, 1), (1, 8), (2, 2), (1, 1), (16, 1)])


@st.composite
def any_layout(draw: st.DrawFn) -> str:
    """A layout of 32 x 48 elements."""
    counts = draw(COUNTS)
    data: list[int] = []
    for extent, count in zip((32, 48), counts, strict=True):
        sizes = [d for d in range(1, extent + 1) if extent % d == 0]
        data.append(
            draw(
                st.sampled_from([d for d in sizes if d > 3 and (extent % (d * count) == 0 or d * count % extent == 0)])
            )
        )
    return layout(list(counts), data, draw(st.sampled_from([None, [0, 1]])))


@settings(max_examples=6)
@given(any_layout(), any_layout(), any_layout())
def test_a_copy_keeps_its_values_by_any_layouts(first: str, second: str, third: str) -> None:
    middle = f"""%w = xegpu.convert_layout %v <{{input_layout = {first}, target_layout = {second}}}>
    : vector<32x48xf32>"""
    values = numbers(32, 48)
    got = run(copy_kernel(32, 48, first, middle, third), [values, np.zeros_like(values)], distributed=True)
    np.testing.assert_array_equal(np.asarray(got[1]), values)


def test_conversions_in_a_loop() -> None:
    rows = layout([4, 1], [16, 32])
    middle = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %w = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %v) -> (vector<64x32xf32>) {{
    %y = xegpu.convert_layout %x <{{input_layout = {C}, target_layout = {rows}}}> : vector<64x32xf32>
    %p = arith.addf %y, %y : vector<64x32xf32>
    %q = arith.addf %p, %x : vector<64x32xf32>
    scf.yield %q : vector<64x32xf32>
  }}"""
    values = numbers(64, 32)
    _, got = assert_agrees(copy_kernel(64, 32, C, middle, C), [values, np.zeros_like(values)])
    np.testing.assert_array_equal(np.asarray(got), 27 * values)


@pytest.mark.parametrize("condition", [0, 1])
def test_scf_if(condition: int) -> None:
    source = kernel(
        "%A: memref<64x32xf32>, %B: memref<64x32xf32>, %n: i32",
        f"""
  %one = arith.constant 1 : i32
  %p = arith.cmpi eq, %n, %one : i32
  %a = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  %b = xegpu.create_nd_tdesc %B : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  %v = xegpu.load_nd %a[0, 0] <{{layout = {C}}}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
  %w = scf.if %p -> (vector<64x32xf32>) {{
    %x = arith.addf %v, %v : vector<64x32xf32>
    scf.yield %x : vector<64x32xf32>
  }} else {{
    %y = arith.constant dense<3.0> : vector<64x32xf32>
    scf.yield %y : vector<64x32xf32>
  }}
  xegpu.store_nd %w, %b[0, 0] <{{layout = {C}}}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>""",
    )
    assert_agrees(source, [numbers(64, 32), np.zeros((64, 32), "float32"), condition])


def test_scf_while_carries_vectors() -> None:
    middle = """
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %n, %w = scf.while (%i = %zero, %x = %v) : (i32, vector<64x32xf32>) -> (i32, vector<64x32xf32>) {
    %more = arith.cmpi slt, %i, %four : i32
    scf.condition(%more) %i, %x : i32, vector<64x32xf32>
  } do {
  ^bb0(%j: i32, %y: vector<64x32xf32>):
    %k = arith.addi %j, %one : i32
    %s = arith.addf %y, %v : vector<64x32xf32>
    scf.yield %k, %s : i32, vector<64x32xf32>
  }"""
    assert_agrees(copy_kernel(64, 32, C, middle, C), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_slm_gemm_with_cooperative_copies() -> None:
    """Both operands go through local memory, copied by other layouts than those that compute."""
    copy_a, copy_b = layout([4, 1], [16, 32]), layout([4, 1], [8, 32])
    source = gemm(A, B, C)
    for name, copy, used in (("a", copy_a, A), ("b", copy_b, B)):
        shape = "64x32" if name == "a" else "32x32"
        nbytes = 4096 if name == "a" else 2048
        at = "0, %k" if name == "a" else "%k, 0"
        memory = "" if name == "a" else ", #xegpu.mem_layout<stride = [1, 32]>"
        source = source.replace(
            f"%{name} = xegpu.load_nd %t{name}[{at}] <{{layout = {used}}}>",
            f"%{name}g = xegpu.load_nd %t{name}[{at}] <{{layout = {copy}}}>",
        )
        desc = f"!xegpu.mem_desc<{shape}xf16{memory}>"
        source = source.replace(
            "    %d = ",
            f"""    xegpu.store_matrix %{name}g, %m{name}[0, 0] <{{layout = {copy}}}> : vector<{shape}xf16>, {desc}
    gpu.barrier
    %{name} = xegpu.load_matrix %m{name}[0, 0] <{{layout = {used}}}> : {desc} -> vector<{shape}xf16>
    gpu.barrier
    %d = """,
        )
        source = source.replace(
            "  %c0 = ",
            f"""  %s{name} = memref.alloca() : memref<{nbytes}xi8, 3>
  %m{name} = xegpu.create_mem_desc %s{name} : memref<{nbytes}xi8, 3> -> {desc}
  %c0 = """,
            1,
        )
    assert source.count("load_matrix") == 2
    assert_agrees(source, list(MATRICES))


def test_three_dimensions() -> None:
    """[4, 16, 32] from [64, 32]: reduced over the middle, broadcast back, transposed twice, converted."""
    cube = "sg_layout = [2, 1, 2], sg_data = [1, 16, 16]"
    other = "#xegpu.layout<sg_layout = [1, 4, 1], sg_data = [4, 4, 32]>"
    middle = f"""
  %x = vector.shape_cast %v : vector<64x32xf32> to vector<4x16x32xf32>
  %y = xegpu.convert_layout %x <{{input_layout = #xegpu.layout<{cube}>, target_layout = {other}}}>
    : vector<4x16x32xf32>
  %z = arith.constant dense<0.0> : vector<4x32xf32>
  %s = vector.multi_reduction <add>, %y, %z [1] : vector<4x16x32xf32> to vector<4x32xf32>
  %t = vector.shape_cast %s : vector<4x32xf32> to vector<4x1x32xf32>
  %bb = vector.broadcast %t : vector<4x1x32xf32> to vector<4x16x32xf32>
  %p = arith.addf %bb, %x : vector<4x16x32xf32>
  %q = vector.transpose %p, [2, 0, 1] : vector<4x16x32xf32> to vector<32x4x16xf32>
  %r = arith.addf %q, %q : vector<32x4x16xf32>
  %u = vector.transpose %r, [1, 2, 0] : vector<32x4x16xf32> to vector<4x16x32xf32>
  %w = vector.shape_cast %u : vector<4x16x32xf32> to vector<64x32xf32>"""
    rows = layout([2, 2], [16, 16])
    assert_agrees(copy_kernel(64, 32, rows, middle, rows), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_parts_of_vectors() -> None:
    middle = """
  %x = vector.extract_strided_slice %v {offsets = [8, 16], sizes = [32, 16], strides = [1, 1]}
    : vector<64x32xf32> to vector<32x16xf32>
  %y = arith.addf %x, %x : vector<32x16xf32>
  %w = vector.insert_strided_slice %y, %v {offsets = [20, 4], strides = [1, 1]}
    : vector<32x16xf32> into vector<64x32xf32>"""
    assert_agrees(copy_kernel(64, 32, C, middle, C), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_parts_that_every_sub_group_has_stay_in_registers() -> None:
    rows = layout([4, 1], [16, 32])
    middle = """
  %x = vector.extract_strided_slice %v {offsets = [0, 8], sizes = [64, 16], strides = [1, 1]}
    : vector<64x32xf32> to vector<64x16xf32>
  %y = arith.addf %x, %x : vector<64x16xf32>
  %w = vector.insert_strided_slice %y, %v {offsets = [0, 4], strides = [1, 1]}
    : vector<64x16xf32> into vector<64x32xf32>"""
    assert_agrees(copy_kernel(64, 32, rows, middle, rows), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_bitcast_scales_the_innermost_data() -> None:
    middle = """
  %x = vector.bitcast %v : vector<64x32xi32> to vector<64x64xi16>
  %one = arith.constant dense<1> : vector<64x64xi16>
  %y = arith.addi %x, %one : vector<64x64xi16>
  %w = vector.bitcast %y : vector<64x64xi16> to vector<64x32xi32>"""
    assert_agrees(
        copy_kernel(64, 32, C, middle, C, "i32"), [numbers(64, 32, dtype="int32"), np.zeros((64, 32), "int32")]
    )


def test_constants_of_many_values() -> None:
    rows = np.arange(64 * 32).reshape(64, 32) * 7 % 97
    middle = f"""
  %x = arith.constant dense<{rows.tolist()}> : vector<64x32xi32>
  %w = arith.addi %v, %x : vector<64x32xi32>"""
    _, got = assert_agrees(
        copy_kernel(64, 32, C, middle, C, "i32"), [np.ones((64, 32), "int32"), np.zeros((64, 32), "int32")]
    )
    np.testing.assert_array_equal(np.asarray(got), rows + 1)


LINE = "#xegpu.layout<sg_layout = [4], sg_data = [16]>"


@pytest.mark.parametrize("line", [LINE, "#xegpu.layout<sg_layout = [8], sg_data = [32]>"])
def test_gather_and_scatter(line: str) -> None:
    """B[64 - i] = A[2 i] where i < n: by a descriptor, and by a base and offsets."""
    source = kernel(
        "%A: memref<256xf32>, %B: memref<256xf32>, %n: index",
        f"""
  %i = vector.step : vector<128xindex>
  %two = arith.constant dense<2> : vector<128xindex>
  %last = arith.constant dense<200> : vector<128xindex>
  %from = arith.muli %i, %two : vector<128xindex>
  %to = arith.subi %last, %i : vector<128xindex>
  %mask = vector.create_mask %n : vector<128xi1>
  %d = xegpu.create_tdesc %A, %from : memref<256xf32>, vector<128xindex>
    -> !xegpu.tensor_desc<128xf32, #xegpu.scatter_tdesc_attr<>, {line}>
  %v = xegpu.load %d, %mask : !xegpu.tensor_desc<128xf32, #xegpu.scatter_tdesc_attr<>, {line}>, vector<128xi1>
    -> vector<128xf32>
  %w = arith.addf %v, %v : vector<128xf32>
  xegpu.store %w, %B[%to], %mask <{{layout = {line}}}>
    : vector<128xf32>, memref<256xf32>, vector<128xindex>, vector<128xi1>""",
    )
    assert_agrees(source, [numbers(256), np.zeros(256, "float32"), 100])


@pytest.mark.parametrize("line", [LINE, "#xegpu.layout<sg_layout = [4], sg_data = [32]>"])
def test_atomics_happen_once(line: str) -> None:
    """64 updates of 8 sums; with 128 sub-group shares of 64 elements, only the first of those that share updates."""
    source = kernel(
        "%A: memref<64xf32>, %B: memref<8xf32>, %O: memref<64xf32>",
        f"""
  %i = vector.step : vector<64xindex>
  %eight = arith.constant dense<8> : vector<64xindex>
  %to = arith.remui %i, %eight : vector<64xindex>
  %mask = arith.constant dense<true> : vector<64xi1>
  %v = xegpu.load %A[%i], %mask <{{layout = {line}}}>
    : memref<64xf32>, vector<64xindex>, vector<64xi1> -> vector<64xf32>
  %d = xegpu.create_tdesc %B, %to : memref<8xf32>, vector<64xindex>
    -> !xegpu.tensor_desc<64xf32, #xegpu.scatter_tdesc_attr<>, {line}>
  %old = xegpu.atomic_rmw addf %d, %mask, %v
    : !xegpu.tensor_desc<64xf32, #xegpu.scatter_tdesc_attr<>, {line}>, vector<64xi1>, vector<64xf32> -> vector<64xf32>
  xegpu.store %old, %O[%i], %mask <{{layout = {line}}}>
    : vector<64xf32>, memref<64xf32>, vector<64xindex>, vector<64xi1>""",
        attributes="attributes {known_block_size = array<i32: 64, 1, 1>}",
    )
    values = np.ones(64, "float32")
    _, sums, old = run(source, [values, np.zeros(8, "float32"), np.zeros(64, "float32")], distributed=True)
    np.testing.assert_array_equal(np.asarray(sums), np.full(8, 8.0))
    olds = np.asarray(old).reshape(8, 8)
    np.testing.assert_array_equal(np.sort(olds, axis=0), np.repeat(np.arange(8.0)[:, None], 8, axis=1))


def test_moving_descriptors_carry_their_offsets_through_loops() -> None:
    source = kernel(
        "%A: memref<64x96xf32>, %B: memref<64x32xf32>",
        f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : vector<64x32xf32>
  %a = xegpu.create_nd_tdesc %A[%c0, %c0] : memref<64x96xf32> -> !xegpu.tensor_desc<64x32xf32, {C}>
  %b = xegpu.create_nd_tdesc %B[0, 0] : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32, {C}>
  %s, %e = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %z, %t = %a)
      -> (vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32, {C}>) {{
    %v = xegpu.load_nd %t : !xegpu.tensor_desc<64x32xf32, {C}> -> vector<64x32xf32>
    %y = arith.addf %x, %v : vector<64x32xf32>
    %u = xegpu.update_nd_offset %t, [0, 32] : !xegpu.tensor_desc<64x32xf32, {C}>
    scf.yield %y, %u : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32, {C}>
  }}
  xegpu.store_nd %s, %b : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32, {C}>""",
    )
    assert_agrees(source, [numbers(64, 96), np.zeros((64, 32), "float32")])


def test_a_range_of_sub_groups() -> None:
    """Sub-groups 2 and 3 alone store, by a layout that counts from 2."""
    two = layout([2, 1], [32, 32])
    source = kernel(
        "%A: memref<64x32xf32>, %B: memref<64x32xf32>",
        f"""
  %zero = arith.constant 0 : index
  %true = arith.cmpi eq, %zero, %zero : index
  %a = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  %b = xegpu.create_nd_tdesc %B : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  scf.if %true {{
    %v = xegpu.load_nd %a[0, 0] <{{layout = {two}}}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
    %w = arith.addf %v, %v : vector<64x32xf32>
    xegpu.store_nd %w, %b[0, 0] <{{layout = {two}}}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>
  }} {{sg_id_range = #xegpu.range<[2, 4]>}}""",
        attributes="attributes {known_block_size = array<i32: 64, 1, 1>}",
    )
    values = numbers(64, 32)
    got = run(source, [values, np.zeros_like(values)], distributed=True)
    np.testing.assert_array_equal(np.asarray(got[1]), 2 * values)
