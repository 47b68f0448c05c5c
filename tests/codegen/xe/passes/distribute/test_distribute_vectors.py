"""The rarer vector operations and accesses, distributed: elements, masks, chunks, transposed loads."""

import numpy as np
import pytest

from tests.codegen.xe.passes.distribute.distribute_kernels import assert_agrees, copy_kernel, kernel, layout, numbers

C = layout([2, 2], [16, 16])
ROWS = layout([4, 1], [16, 32])
LINE = "#xegpu.layout<sg_layout = [4], sg_data = [16]>"
OTHER_LINE = "#xegpu.layout<sg_layout = [2, 2], sg_data = [8, 1]>"


@pytest.mark.parametrize(
    "middle",
    [
        # a row and an element of it
        """
  %row = vector.extract %v[37] : vector<32xf32> from vector<64x32xf32>
  %x = vector.broadcast %row : vector<32xf32> to vector<64x32xf32>
  %one = vector.extract %v[5, 21] : f32 from vector<64x32xf32>
  %y = vector.broadcast %one : f32 to vector<64x32xf32>
  %w = arith.subf %x, %y : vector<64x32xf32>""",
        # an element at a place that is known when the kernel runs, and one put elsewhere
        """
  %i = arith.constant 11 : index
  %one = vector.extract %v[%i, 3] : f32 from vector<64x32xf32>
  %w = vector.insert %one, %v [60, %i] : f32 into vector<64x32xf32>""",
        # a sum of all of one row
        """
  %row = vector.extract %v[9] : vector<32xf32> from vector<64x32xf32>
  %sum = vector.reduction <add>, %row : vector<32xf32> into f32
  %w = vector.broadcast %sum : f32 to vector<64x32xf32>""",
        # the last number of a few
        """
  %c2 = arith.constant 2.0 : f32
  %c3 = arith.constant 3.0 : f32
  %few = vector.from_elements %c2, %c3, %c2, %c3 : vector<4xf32>
  %sum = vector.reduction <mul>, %few, %c3 : vector<4xf32> into f32
  %x = vector.broadcast %sum : f32 to vector<64x32xf32>
  %w = arith.mulf %x, %v : vector<64x32xf32>""",
        # fused multiply-add, and a choice by a comparison
        """
  %s = vector.fma %v, %v, %v : vector<64x32xf32>
  %p = arith.cmpf ogt, %s, %v : vector<64x32xf32>
  %w = arith.select %p, %s, %v : vector<64x32xi1>, vector<64x32xf32>""",
        # masks of which the blocks of a sub-group see their part
        """
  %n = arith.constant 41 : index
  %k = arith.constant 50 : index
  %m = vector.create_mask %n, %k : vector<64x32xi1>
  %c = vector.constant_mask [60, 13] : vector<64x32xi1>
  %p = arith.xori %m, %c : vector<64x32xi1>
  %two = arith.constant dense<2.0> : vector<64x32xf32>
  %w = arith.select %p, %v, %two : vector<64x32xi1>, vector<64x32xf32>""",
    ],
)
@pytest.mark.parametrize("source", [C, layout([4, 1], [8, 32])])
def test_vectors(middle: str, source: str) -> None:
    assert_agrees(copy_kernel(64, 32, source, middle, source), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_truth_values_and_indices_move() -> None:
    middle = f"""
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %p = arith.cmpf ogt, %v, %zero : vector<64x32xf32>
  %q = xegpu.convert_layout %p <{{input_layout = {C}, target_layout = {ROWS}}}> : vector<64x32xi1>
  %i = vector.step : vector<2048xindex>
  %r = vector.shape_cast %i : vector<2048xindex> to vector<64x32xindex>
  %o = arith.constant dense<5> : vector<64x32xindex>
  %t = arith.select %q, %r, %o : vector<64x32xi1>, vector<64x32xindex>
  %u = xegpu.convert_layout %t <{{input_layout = {ROWS}, target_layout = {C}}}> : vector<64x32xindex>
  %n = arith.index_cast %u : vector<64x32xindex> to vector<64x32xi32>
  %w = arith.sitofp %n : vector<64x32xi32> to vector<64x32xf32>"""
    assert_agrees(copy_kernel(64, 32, C, middle, C), [numbers(64, 32), np.zeros((64, 32), "float32")])


@pytest.mark.parametrize(
    "middle",
    [
        # numbers of elements, dealt out in parts of rows: no layout of the line has them
        """
  %i = vector.step : vector<2048xindex>
  %r = vector.shape_cast %i : vector<2048xindex> to vector<64x32xindex>
  %n = arith.index_cast %r : vector<64x32xindex> to vector<64x32xi32>
  %f = arith.sitofp %n : vector<64x32xi32> to vector<64x32xf32>
  %w = arith.addf %f, %v : vector<64x32xf32>""",
        # and those that are loaded
        """
  %line = vector.shape_cast %v : vector<64x32xf32> to vector<2048xf32>
  %twice = arith.addf %line, %line : vector<2048xf32>
  %w = vector.shape_cast %twice : vector<2048xf32> to vector<64x32xf32>""",
    ],
)
def test_elements_that_no_layout_keeps_in_place(middle: str) -> None:
    assert_agrees(copy_kernel(64, 32, C, middle, C), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_parts_of_elements_that_no_layout_keeps_in_place() -> None:
    """A sub-group owns one byte of each word."""
    bytes_ = layout([1, 4], [64, 1])
    source = kernel(
        "%A: memref<64x4xi8>, %B: memref<64x4xi8>",
        f"""
  %a = xegpu.create_nd_tdesc %A : memref<64x4xi8> -> !xegpu.tensor_desc<64x4xi8>
  %b = xegpu.create_nd_tdesc %B : memref<64x4xi8> -> !xegpu.tensor_desc<64x4xi8>
  %v = xegpu.load_nd %a[0, 0] <{{layout = {bytes_}}}> : !xegpu.tensor_desc<64x4xi8> -> vector<64x4xi8>
  %i = vector.bitcast %v : vector<64x4xi8> to vector<64x1xi32>
  %j = arith.addi %i, %i : vector<64x1xi32>
  %w = vector.bitcast %j : vector<64x1xi32> to vector<64x4xi8>
  xegpu.store_nd %w, %b[0, 0] <{{layout = {bytes_}}}> : vector<64x4xi8>, !xegpu.tensor_desc<64x4xi8>""",
    )
    assert_agrees(source, [numbers(64, 4, dtype="int8"), np.zeros((64, 4), "int8")])


@pytest.mark.parametrize("where", [layout([2, 2], [16, 8]), layout([1, 4], [32, 8]), layout([2, 2], [8, 16], [0, 1])])
def test_a_transposed_load(where: str) -> None:
    source = kernel(
        "%A: memref<64x48xf32>, %B: memref<48x64xf32>",
        f"""
  %a = xegpu.create_nd_tdesc %A : memref<64x48xf32> -> !xegpu.tensor_desc<32x32xf32>
  %b = xegpu.create_nd_tdesc %B : memref<48x64xf32> -> !xegpu.tensor_desc<32x32xf32>
  %v = xegpu.load_nd %a[16, 8] <{{transpose = array<i64: 1, 0>, layout = {where}}}>
    : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
  xegpu.store_nd %v, %b[4, 8] <{{layout = {where}}}> : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32>""",
    )
    values = numbers(64, 48)
    _, got = assert_agrees(source, [values, np.zeros((48, 64), "float32")])
    np.testing.assert_array_equal(np.asarray(got)[4:36, 8:40], values[16:48, 8:40].T)


def test_chunks_move_with_scattered_descriptors() -> None:
    """Chunks of 4 elements, 64 of them, at offsets that a loop moves: every offset sums three chunks."""
    layout_2d = "#xegpu.layout<sg_layout = [4, 1], sg_data = [8, 4]>"
    kind = f"!xegpu.tensor_desc<64x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, {layout_2d}>"
    source = kernel(
        "%A: memref<1024xf32>, %B: memref<1024xf32>",
        f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %i = vector.step : vector<64xindex>
  %eight = arith.constant dense<8> : vector<64xindex>
  %four = arith.constant dense<4> : vector<64xindex>
  %mask = vector.create_mask %c60 : vector<64xi1>
  %at = arith.muli %i, %eight : vector<64xindex>
  %zero = arith.constant dense<0.0> : vector<64x4xf32>
  %d = xegpu.create_tdesc %A, %at : memref<1024xf32>, vector<64xindex> -> {kind}
  %sum, %end = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %zero, %t = %d) -> (vector<64x4xf32>, {kind}) {{
    xegpu.prefetch %t : {kind}
    %v = xegpu.load %t, %mask : {kind}, vector<64xi1> -> vector<64x4xf32>
    %held = arith.select %wide, %v, %zero : vector<64x4xi1>, vector<64x4xf32>
    %n = arith.addf %s, %held : vector<64x4xf32>
    %u = xegpu.update_offset %t, %four : {kind}, vector<64xindex>
    scf.yield %n, %u : vector<64x4xf32>, {kind}
  }}
  %o = xegpu.create_tdesc %B, %at : memref<1024xf32>, vector<64xindex> -> {kind}
  xegpu.store %sum, %o, %mask : vector<64x4xf32>, {kind}, vector<64xi1>""".replace(
            "  %i = ",
            "  %c60 = arith.constant 60 : index\n  %c4 = arith.constant 4 : index\n"
            "  %wide = vector.create_mask %c60, %c4 : vector<64x4xi1>\n  %i = ",
            1,
        ),
    )
    values = numbers(1024)
    _, got = assert_agrees(source, [values, np.zeros(1024, "float32")])
    expected = sum(values[8 * i : 8 * i + 4] for i in range(1)) + values[4:8] + values[8:12]
    np.testing.assert_array_equal(np.asarray(got)[:4], expected)


def test_one_dimension() -> None:
    block = "!xegpu.tensor_desc<128xf32, #xegpu.block_tdesc_attr<boundary_check = false>>"
    source = kernel(
        "%A: memref<128xf32>, %B: memref<128xf32>",
        f"""
  %a = xegpu.create_nd_tdesc %A : memref<128xf32> -> {block}
  %b = xegpu.create_nd_tdesc %B : memref<128xf32> -> {block}
  %v = xegpu.load_nd %a[0] <{{layout = {LINE}}}> : {block} -> vector<128xf32>
  %w = xegpu.convert_layout %v <{{input_layout = {LINE}, target_layout = #xegpu.slice<{OTHER_LINE}, dims = [1]>}}>
    : vector<128xf32>
  %x = arith.addf %w, %w : vector<128xf32>
  xegpu.store_nd %x, %b[0] <{{layout = {LINE}}}> : vector<128xf32>, {block}""",
    )
    assert_agrees(source, [numbers(128), np.zeros(128, "float32")])


@pytest.mark.parametrize(
    "memory", ["", ", #xegpu.mem_layout<stride = [1, 64]>", ", #xegpu.mem_layout<block = [16, 8]>"]
)
def test_local_memory_in_any_layout_and_its_parts(memory: str) -> None:
    desc, part = (
        f"!xegpu.mem_desc<64x32xf32{memory}>",
        "!xegpu.mem_desc<32x32xf32, #xegpu.mem_layout<stride = [32, 1]>>",
    )
    view = (
        f"""
  %h = xegpu.mem_desc_subview %m[32, 0] : {desc} -> {part}
  %u = xegpu.load_matrix %h[0, 0] <{{layout = {layout([2, 2], [16, 16])}}}> : {part} -> vector<32x32xf32>
  %x = vector.extract_strided_slice %v {{offsets = [0, 0], sizes = [32, 32], strides = [1, 1]}}
    : vector<64x32xf32> to vector<32x32xf32>
  %y = arith.addf %u, %x : vector<32x32xf32>
  %r = vector.insert_strided_slice %y, %q {{offsets = [0, 0], strides = [1, 1]}}
    : vector<32x32xf32> into vector<64x32xf32>"""
        if not memory
        else "%r = arith.addf %q, %q : vector<64x32xf32>"
    )
    middle = f"""
  %s = memref.alloca() : memref<8192xi8, 3>
  %m = xegpu.create_mem_desc %s : memref<8192xi8, 3> -> {desc}
  xegpu.store_matrix %v, %m[0, 0] <{{layout = {C}}}> : vector<64x32xf32>, {desc}
  gpu.barrier
  %q = xegpu.load_matrix %m[0, 0] <{{layout = {ROWS}}}> : {desc} -> vector<64x32xf32>
  {view}
  %w = arith.addf %r, %v : vector<64x32xf32>"""
    assert_agrees(copy_kernel(64, 32, C, middle, C), [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_elements_of_two_lines_in_any_order() -> None:
    order = [(37 * i + 100) % 128 for i in range(64)]
    source = kernel(
        "%A: memref<64xf32>, %B: memref<64xf32>, %C: memref<64xf32>",
        f"""
  %ta = xegpu.create_nd_tdesc %A : memref<64xf32> -> !xegpu.tensor_desc<64xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<64xf32> -> !xegpu.tensor_desc<64xf32>
  %tc = xegpu.create_nd_tdesc %C : memref<64xf32> -> !xegpu.tensor_desc<64xf32>
  %a = xegpu.load_nd %ta[0] <{{layout = {LINE}}}> : !xegpu.tensor_desc<64xf32> -> vector<64xf32>
  %b = xegpu.load_nd %tb[0] <{{layout = {LINE}}}> : !xegpu.tensor_desc<64xf32> -> vector<64xf32>
  %c = vector.shuffle %a, %b {order} : vector<64xf32>, vector<64xf32>
  xegpu.store_nd %c, %tc[0] <{{layout = {LINE}}}> : vector<64xf32>, !xegpu.tensor_desc<64xf32>""",
    )
    assert_agrees(source, [numbers(64), numbers(64, seed=1), np.zeros(64, "float32")])


@pytest.mark.parametrize("c", [layout([4, 2], [16, 16]), layout([2, 2], [16, 8]), layout([2, 2], [16, 16], [0, 1])])
@pytest.mark.parametrize(
    ("b", "b_map"), [("48x32", "affine_map<(m, n, k) -> (k, n)>"), ("32x48", "affine_map<(m, n, k) -> (n, k)>")]
)
@pytest.mark.parametrize("stated", [True, False])
def test_a_contraction(c: str, b: str, b_map: str, stated: bool) -> None:
    maps = f"[affine_map<(m, n, k) -> (m, k)>, {b_map}, affine_map<(m, n, k) -> (m, n)>]"
    says = f"{{layout_result_0 = {c}}}" if stated else ""
    source = kernel(
        f"%A: memref<64x48xf32>, %B: memref<{b}xf32>, %C: memref<64x32xf32>",
        f"""
  %ta = xegpu.create_nd_tdesc %A : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<{b}xf32> -> !xegpu.tensor_desc<{b}xf32>
  %tc = xegpu.create_nd_tdesc %C : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  %a = xegpu.load_nd %ta[0, 0] <{{layout = {layout([4, 1], [16, 48])}}}>
    : !xegpu.tensor_desc<64x48xf32> -> vector<64x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{{layout = {layout([1, 4], [int(b[:2]), int(b[3:]) // 4])}}}>
    : !xegpu.tensor_desc<{b}xf32> -> vector<{b}xf32>
  %z = arith.constant dense<1.0> : vector<64x32xf32>
  %d = vector.contract {{indexing_maps = {maps}, iterator_types = ["parallel", "parallel", "reduction"],
    kind = #vector.kind<add>}} %a, %b, %z {says} : vector<64x48xf32>, vector<{b}xf32> into vector<64x32xf32>
  xegpu.store_nd %d, %tc[0, 0] <{{layout = {c}}}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>""",
    )
    assert_agrees(source, [numbers(64, 48), numbers(int(b[:2]), int(b[3:])), np.zeros((64, 32), "float32")])
