"""XeGPU's operations in the interpreter, against numpy."""

from typing import Any

import numpy as np
import pytest

from codegen.xe.dialects.xegpu import MemDescType
from tests.oracle import (
    KernelFault,
)
from tests.oracle.tests.interpret_kernels import Array, module, run
from tests.oracle.xegpu_matrix import strides_of

MATRIX = np.arange(35, dtype=np.float32).reshape(5, 7)
HALVES = np.arange(8 * 12, dtype=np.float16).reshape(8, 12)
ONE = (16, 1, 1)


def padded(matrix: Array, row: int, column: int, shape: tuple[int, int], padding: float = 0) -> Array:
    """The block of a matrix at an offset, which may be anywhere; found element by element."""
    block = np.full(shape, padding, matrix.dtype)
    for i, j in np.ndindex(shape):
        if 0 <= row + i < matrix.shape[0] and 0 <= column + j < matrix.shape[1]:
            block[i, j] = matrix[row + i, column + j]
    return block


def value(body: str, shape: tuple[int, ...], args: list[Any], signature: str, element: str = "f32") -> Array:
    """The vector `%v` that `body` makes of the arguments of the signature."""
    out = np.zeros(shape, {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}[element])
    extents = f"{'x'.join(map(str, shape))}x{element}"
    store = f"  vector.store %v, %out[{', '.join(['%z'] * len(shape))}] : memref<{extents}>, vector<{extents}>"
    text = f"  %z = arith.constant 0 : index\n{body}\n{store}"
    run(f"{signature}, %out: memref<{extents}>", text, [*args, out], block=ONE)
    return out


LOAD = "!xegpu.tensor_desc<3x4xf32> -> vector<3x4xf32>"


@pytest.mark.parametrize(
    ("create", "load", "row", "column"),
    [
        ("%m[3, 5]", "%d", 3, 5),
        ("%m", "%d[%r, -2]", 2, -2),
        ("%m[1, 1]", "%d[%r, 4]", 3, 5),  # both add up
    ],
)
def test_blocks_at_offsets_of_descriptor_and_load(create: str, load: str, row: int, column: int) -> None:
    body = f"""
  %d = xegpu.create_nd_tdesc {create} : memref<5x7xf32> -> !xegpu.tensor_desc<3x4xf32>
  %v = xegpu.load_nd {load} : {LOAD}"""
    got = value(body, (3, 4), [MATRIX, 2], "%m: memref<5x7xf32>, %r: index")
    np.testing.assert_array_equal(got, padded(MATRIX, row, column, (3, 4)))


def test_padding_is_a_number_of_our_own() -> None:
    body = f"""
  %d = xegpu.create_nd_tdesc %m : memref<5x7xf32> -> !xegpu.tensor_desc<3x4xf32>
  %v = xegpu.load_nd %d[4, 5] {{padding = 1.5 : f32}} : {LOAD}"""
    got = value(body, (3, 4), [MATRIX], "%m: memref<5x7xf32>")
    np.testing.assert_array_equal(got, padded(MATRIX, 4, 5, (3, 4), 1.5))


@pytest.mark.parametrize("base", ["i64", "memref<?x?xf32>"])
def test_descriptors_that_are_told_shape_and_strides(base: str) -> None:
    body = f"""
  %c6 = arith.constant 6 : index
  %d = xegpu.create_nd_tdesc %m[2, 0], shape : [4, %c6], strides : [7, 1] : {base} -> !xegpu.tensor_desc<3x4xf32>
  %e = xegpu.update_nd_offset %d, [0, 3] : !xegpu.tensor_desc<3x4xf32>
  %v = xegpu.load_nd %e : {LOAD}"""
    got = value(body, (3, 4), [MATRIX], f"%m: {base}")
    np.testing.assert_array_equal(got, padded(MATRIX[:4, :6], 2, 3, (3, 4)))


def test_matrices_of_higher_dimensions() -> None:
    stack = np.stack([MATRIX, MATRIX + 100])
    body = f"""
  %d = xegpu.create_nd_tdesc %m[1, 0, 0] : memref<2x5x7xf32> -> !xegpu.tensor_desc<3x4xf32>
  %v = xegpu.load_nd %d[3, 2] : {LOAD}"""
    got = value(body, (3, 4), [stack], "%m: memref<2x5x7xf32>")
    np.testing.assert_array_equal(got, padded(stack[1], 3, 2, (3, 4)))


def test_stores_drop_what_is_outside_and_prefetches_do_nothing() -> None:
    matrix = MATRIX.copy()
    body = """
  %d = xegpu.create_nd_tdesc %m : memref<5x7xf32> -> !xegpu.tensor_desc<3x4xf32>
  %v = arith.constant dense<-1.0> : vector<3x4xf32>
  xegpu.prefetch_nd %d[0, 0] : !xegpu.tensor_desc<3x4xf32>
  xegpu.store_nd %v, %d[-1, 5] : vector<3x4xf32>, !xegpu.tensor_desc<3x4xf32>"""
    run("%m: memref<5x7xf32>", body, [matrix], block=ONE)
    expected = MATRIX.copy()
    expected[:2, 5:] = -1
    np.testing.assert_array_equal(matrix, expected)


def test_transposed_loads() -> None:
    body = """
  %d = xegpu.create_nd_tdesc %m : memref<5x7xf32> -> !xegpu.tensor_desc<3x4xf32>
  %v = xegpu.load_nd %d[1, 2] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<3x4xf32> -> vector<4x3xf32>"""
    np.testing.assert_array_equal(value(body, (4, 3), [MATRIX], "%m: memref<5x7xf32>"), MATRIX[1:4, 2:6].T)


def test_transposed_loads_of_pairs() -> None:
    """The RFC's 32x16 of 16 bits as 8x64: word [k, n] holds elements [n, 2k] and [n, 2k + 1]."""
    body = """
  %d = xegpu.create_nd_tdesc %m : memref<8x12xf16> -> !xegpu.tensor_desc<6x4xf16>
  %v = xegpu.load_nd %d[1, 2] <{transpose = array<i64: 1, 0>, transpose_bit_width = 32 : i32}>
    : !xegpu.tensor_desc<6x4xf16> -> vector<2x12xf16>"""
    got = value(body, (2, 12), [HALVES], "%m: memref<8x12xf16>", "f16")
    block = HALVES[1:7, 2:6]
    for k, n, p in np.ndindex(2, 6, 2):
        assert got[k, 2 * n + p] == block[n, 2 * k + p]


def test_packed_loads() -> None:
    body = """
  %d = xegpu.create_nd_tdesc %m : memref<8x12xf16> -> !xegpu.tensor_desc<6x4xf16>
  %v = xegpu.load_nd %d[1, 2] <{packed}> : !xegpu.tensor_desc<6x4xf16> -> vector<3x4x2xf16>"""
    got = value(body, (3, 4, 2), [HALVES], "%m: memref<8x12xf16>", "f16")
    block = HALVES[1:7, 2:6]
    for k, n, p in np.ndindex(3, 4, 2):
        assert got[k, n, p] == block[2 * k + p, n]


@pytest.mark.parametrize("shape", [(2, 3, 2), (6, 2)])
def test_blocks_that_follow_each_other(shape: tuple[int, ...]) -> None:
    desc = "!xegpu.tensor_desc<3x2xf32, #xegpu.block_tdesc_attr<array_length = 2 : i64>>"
    extents = "x".join(map(str, shape))
    body = f"""
  %d = xegpu.create_nd_tdesc %m : memref<5x7xf32> -> {desc}
  %v = xegpu.load_nd %d[1, 4] : {desc} -> vector<{extents}xf32>"""
    got = value(body, shape, [MATRIX], "%m: memref<5x7xf32>").reshape(2, 3, 2)
    np.testing.assert_array_equal(got[0], MATRIX[1:4, 4:6])
    np.testing.assert_array_equal(got[1], padded(MATRIX, 1, 6, (3, 2)))


@pytest.mark.parametrize("base", ["memref<35xf32>", "i64"])
def test_blocks_of_one_dimension_are_not_checked(base: str) -> None:
    body = f"""
  %d = xegpu.create_nd_tdesc %m[4] : {base} -> !xegpu.tensor_desc<8xf32>
  %v = xegpu.load_nd %d[%i] : !xegpu.tensor_desc<8xf32> -> vector<8xf32>"""
    flat = MATRIX.reshape(-1)
    got = value(body, (8,), [flat, 6], f"%m: {base}, %i: index")
    np.testing.assert_array_equal(got, flat[10:18])
    with pytest.raises(KernelFault, match="expected accesses within a buffer of 140 bytes, got bytes 120 to 151"):
        value(body, (8,), [flat, 26], f"%m: {base}, %i: index")


def test_a_block_without_boundary_check_reads_on() -> None:
    desc = "!xegpu.tensor_desc<2x4xf32, #xegpu.block_tdesc_attr<boundary_check = false>>"
    body = f"""
  %d = xegpu.create_nd_tdesc %m : memref<5x7xf32> -> {desc}
  %v = xegpu.load_nd %d[1, 5] : {desc} -> vector<2x4xf32>"""
    got = value(body, (2, 4), [MATRIX], "%m: memref<5x7xf32>")
    assert got.tolist() == [[12, 13, 14, 15], [19, 20, 21, 22]]


RNG = np.random.default_rng(11)


@pytest.mark.parametrize("a_in_words", [False, True])
@pytest.mark.parametrize("b_in_words", [False, True])
def test_dpas(a_in_words: bool, b_in_words: bool) -> None:
    a, b = (RNG.standard_normal(s).astype(np.float16) for s in ((3, 6), (6, 5)))
    c = RNG.standard_normal((3, 5)).astype(np.float32)
    words = b.reshape(3, 2, 5).transpose(0, 2, 1).copy()
    a_type, b_type = "3x3x2" if a_in_words else "3x6", "3x5x2" if b_in_words else "6x5"
    body = f"""
  %a = vector.load %a_m[{"%z, " * (1 + a_in_words)}%z] : memref<{a_type}xf16>, vector<{a_type}xf16>
  %b = vector.load %b_m[{"%z, " * (1 + b_in_words)}%z] : memref<{b_type}xf16>, vector<{b_type}xf16>
  %c = vector.load %c_m[%z, %z] : memref<3x5xf32>, vector<3x5xf32>
  %v = xegpu.dpas %a, %b, %c : vector<{a_type}xf16>, vector<{b_type}xf16>, vector<3x5xf32> -> vector<3x5xf32>"""
    args = [a.reshape(3, 3, 2) if a_in_words else a, words if b_in_words else b, c]
    signature = f"%a_m: memref<{a_type}xf16>, %b_m: memref<{b_type}xf16>, %c_m: memref<3x5xf32>"
    exact = a.astype(float) @ b.astype(float) + c
    np.testing.assert_array_equal(value(body, (3, 5), args, signature), exact.astype(np.float32))


def test_dpas_of_unsigned_bytes_without_c() -> None:
    a, b = np.array([[200, 255]], np.uint8), np.array([[-1, 2, 3], [4, -5, 6]], np.int8)
    body = """
  %a = vector.load %a_m[%z, %z] : memref<1x2xui8>, vector<1x2xui8>
  %b = vector.load %b_m[%z, %z] : memref<2x3xi8>, vector<2x3xi8>
  %v = "xegpu.dpas"(%a, %b) : (vector<1x2xui8>, vector<2x3xi8>) -> vector<1x3xi32>"""
    got = value(body, (1, 3), [a, b], "%a_m: memref<1x2xui8>, %b_m: memref<2x3xi8>", "i32")
    np.testing.assert_array_equal(got, a.astype(int) @ b.astype(int))


def test_convert_layout_changes_no_value() -> None:
    before, after = (f"#xegpu.layout<sg_layout = {n}, sg_data = {d}>" for n, d in (([1, 1], [5, 7]), ([5, 1], [1, 7])))
    layouts = f"input_layout = {before}, target_layout = {after}"
    body = f"""
  %a = vector.load %m[%z, %z] : memref<5x7xf32>, vector<5x7xf32>
  %v = xegpu.convert_layout %a <{{{layouts}}}> : vector<5x7xf32>"""
    np.testing.assert_array_equal(value(body, (5, 7), [MATRIX], "%m: memref<5x7xf32>"), MATRIX)


DESC = "!xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<>>"
SCATTERED = f"""
  %i = arith.constant dense<[3, 30, 7, 99]> : vector<4xindex>
  %k = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %t = xegpu.create_tdesc %m, %i : memref<35xf32>, vector<4xindex> -> {DESC}
"""
FLAT = MATRIX.reshape(-1)


def test_gathers_give_zero_where_masked() -> None:
    body = f"{SCATTERED}  xegpu.prefetch %t : {DESC}\n  %v = xegpu.load %t, %k : {DESC}, vector<4xi1> -> vector<4xf32>"
    assert value(body, (4,), [FLAT], "%m: memref<35xf32>").tolist() == [3, 30, 7, 0]
    moved = f"""{SCATTERED}
  %j = arith.constant dense<[1, -1, 0, 5]> : vector<4xindex>
  %u = xegpu.update_offset %t, %j : {DESC}, vector<4xindex>
  %v = xegpu.load %u, %k : {DESC}, vector<4xi1> -> vector<4xf32>"""
    assert value(moved, (4,), [FLAT], "%m: memref<35xf32>").tolist() == [4, 29, 7, 0]


def test_a_gather_outside_memory_is_a_fault() -> None:
    body = f"{SCATTERED}  %v = xegpu.load %t, %k : {DESC}, vector<4xi1> -> vector<4xf32>"
    with pytest.raises(KernelFault, match=r"expected accesses within a buffer of 140 bytes.*, at `%v = xegpu.load"):
        value(body.replace("false", "true"), (4,), [FLAT], "%m: memref<35xf32>")


def test_scatters() -> None:
    flat = FLAT.copy()
    body = f"""{SCATTERED}
  %v = arith.constant dense<[-1.0, -2.0, -3.0, -4.0]> : vector<4xf32>
  xegpu.store %v, %t, %k : vector<4xf32>, {DESC}, vector<4xi1>"""
    run("%m: memref<35xf32>", body, [flat], block=ONE)
    expected = FLAT.copy()
    expected[[3, 30, 7]] = [-1, -2, -3]
    np.testing.assert_array_equal(flat, expected)


CHUNKS = "!xegpu.tensor_desc<4x2xf32, #xegpu.scatter_tdesc_attr<chunk_size = 2>>"


@pytest.mark.parametrize("transposed", [False, True])
def test_chunks_in_rows_or_columns(transposed: bool) -> None:
    flat, shape = FLAT.copy(), "2x4" if transposed else "4x2"
    properties = "<{transpose}>" if transposed else ""
    body = f"""{SCATTERED.replace(DESC, CHUNKS)}
  %v = xegpu.load %t, %k {properties} : {CHUNKS}, vector<4xi1> -> vector<{shape}xf32>
  %w = arith.negf %v : vector<{shape}xf32>
  xegpu.store %w, %t, %k {properties} : vector<{shape}xf32>, {CHUNKS}, vector<4xi1>"""
    got = value(body, (2, 4) if transposed else (4, 2), [flat], "%m: memref<35xf32>")
    assert (got.T if transposed else got).tolist() == [[3, 4], [30, 31], [7, 8], [0, 0]]
    assert flat[[3, 4, 5, 30, 31, 7, 8]].tolist() == [-3, -4, 5, -30, -31, -7, -8]


def test_offsets_at_the_access() -> None:
    flat = FLAT.copy()
    body = """
  %i = arith.constant dense<[3, 30]> : vector<2xindex>
  %k = arith.constant dense<true> : vector<2xi1>
  %v = xegpu.load %m[%i], %k <{chunk_size = 4 : i64}> : memref<35xf32>, vector<2xindex>, vector<2xi1> -> vector<2x4xf32>
  %x = arith.constant dense<-1.0> : vector<2xf32>
  xegpu.store %x, %m[%i], %k : vector<2xf32>, memref<35xf32>, vector<2xindex>, vector<2xi1>"""
    got = value(body, (2, 4), [flat], "%m: memref<35xf32>")
    assert got.tolist() == [[3, 4, 5, 6], [30, 31, 32, 33]]
    assert flat[[3, 4, 30]].tolist() == [-1, 4, -1]


def test_atomic_updates_follow_each_other() -> None:
    flat = FLAT.copy()
    body = f"""{SCATTERED.replace("[3, 30, 7, 99]", "[3, 30, 3, 99]")}
  %x = arith.constant dense<0.5> : vector<4xf32>
  %v = xegpu.atomic_rmw addf %t, %k, %x : {DESC}, vector<4xi1>, vector<4xf32> -> vector<4xf32>"""
    assert value(body, (4,), [flat], "%m: memref<35xf32>").tolist() == [3, 30, 3.5, 0]
    assert flat[[3, 30]].tolist() == [4, 30.5]


def mem_desc(text: str) -> MemDescType:
    op = module(f'%x = "test.desc"() : () -> {text}').body.block.first_op
    assert op is not None
    type_ = op.results[0].type
    assert isinstance(type_, MemDescType)
    return type_


@pytest.mark.parametrize(
    ("layout", "place"),
    [
        ("", lambda i, j: i * 6 + j),
        (", #xegpu.mem_layout<stride = [1, 8]>", lambda i, j: i + j * 8),
        # Blocks in row-major order, and so are the elements of one.
        (", #xegpu.mem_layout<block = [4, 3]>", lambda i, j: ((i // 4) * 2 + j // 3) * 12 + (i % 4) * 3 + j % 3),
        # Column-major: the blocks, and the elements of one.
        (
            ", #xegpu.mem_layout<stride = [1, 8], block = [4, 3]>",
            lambda i, j: ((j // 3) * 2 + i // 4) * 12 + (j % 3) * 4 + i % 4,
        ),
    ],
)
def test_layouts_of_matrices_in_shared_local_memory(layout: str, place: Any) -> None:
    type_ = f"!xegpu.mem_desc<8x6xi8{layout}>"
    inner, outer = strides_of(mem_desc(type_))
    assert len(inner) == len(outer) == 2
    body = f"""
  %b = memref.alloca() : memref<48xi8, 3>
  %d = xegpu.create_mem_desc %b : memref<48xi8, 3> -> {type_}
  %x = vector.load %m[%z, %z] : memref<8x6xi8>, vector<8x6xi8>
  xegpu.store_matrix %x, %d[0, 0] : vector<8x6xi8>, {type_}
  gpu.barrier
  %v = vector.load %b[%z] : memref<48xi8, 3>, vector<48xi8>"""
    matrix = np.arange(48, dtype=np.int8).reshape(8, 6)
    got = value(body, (48,), [matrix], "%m: memref<8x6xi8>", "i8")
    for i, j in np.ndindex(8, 6):
        assert got[place(i, j)] == matrix[i, j]


@pytest.mark.parametrize(
    "layouts",
    [
        ("", ", #xegpu.mem_layout<stride = [6, 1]>"),
        (
            ", #xegpu.mem_layout<stride = [1, 8], block = [4, 3]>",
            ", #xegpu.mem_layout<stride = [1, 8], block = [4, 3]>",
        ),
    ],
)
def test_parts_of_matrices(layouts: tuple[str, str]) -> None:
    whole, part = f"!xegpu.mem_desc<8x6xf32{layouts[0]}>", f"!xegpu.mem_desc<4x3xf32{layouts[1]}>"
    body = f"""
  %b = memref.alloca() : memref<192xi8, 3>
  %d = xegpu.create_mem_desc %b : memref<192xi8, 3> -> {whole}
  %x = vector.load %m[%z, %z] : memref<8x6xf32>, vector<8x6xf32>
  xegpu.store_matrix %x, %d[0, 0] : vector<8x6xf32>, {whole}
  gpu.barrier
  %p = xegpu.mem_desc_subview %d[%r, 3] : {whole} -> {part}
  %v = xegpu.load_matrix %p[%q, 1] : {part} -> vector<2x2xf32>"""
    matrix, signature = np.arange(48, dtype=np.float32).reshape(8, 6), "%m: memref<8x6xf32>, %r: index, %q: index"
    got = value(body, (2, 2), [matrix, 4, 2], signature)
    np.testing.assert_array_equal(got, matrix[6:8, 4:6])
    with pytest.raises(KernelFault, match=r"expected a part of \[8, 6\], got \[4, 3\] at \[5, 3\]"):
        value(body, (2, 2), [matrix, 5, 2], signature)
    with pytest.raises(KernelFault, match=r"expected a block within \[4, 3\], got \[2, 2\] at \[3, 1\]"):
        value(body, (2, 2), [matrix, 4, 3], signature)


def test_parts_may_lack_dimensions_in_front() -> None:
    body = """
  %b = memref.alloca() : memref<140xi8, 3>
  %d = xegpu.create_mem_desc %b : memref<140xi8, 3> -> !xegpu.mem_desc<5x7xf32>
  %x = vector.load %m[%z, %z] : memref<5x7xf32>, vector<5x7xf32>
  xegpu.store_matrix %x, %d[0, 0] : vector<5x7xf32>, !xegpu.mem_desc<5x7xf32>
  %p = xegpu.mem_desc_subview %d[3, 2] : !xegpu.mem_desc<5x7xf32> -> !xegpu.mem_desc<4xf32>
  %v = xegpu.load_matrix %p[1] : !xegpu.mem_desc<4xf32> -> vector<3xf32>"""
    np.testing.assert_array_equal(value(body, (3,), [MATRIX], "%m: memref<5x7xf32>"), MATRIX[3, 3:6])


def test_a_column_in_blocks_is_contiguous() -> None:
    inner, outer = strides_of(mem_desc("!xegpu.mem_desc<8x1xi8, #xegpu.mem_layout<block = [4, 1]>>"))
    assert [i // 4 * outer[0] + i % 4 * inner[0] for i in range(8)] == list(range(8))


def test_work_items_hold_their_columns_and_mean_one_block() -> None:
    out = np.zeros((5, 7), np.float32)
    body = """
  %s = xegpu.create_nd_tdesc %m[2, 0] : memref<5x7xf32> -> !xegpu.tensor_desc<2x16xf32>
  %t = xegpu.create_nd_tdesc %o[COLUMN] : memref<5x7xf32> -> !xegpu.tensor_desc<2x16xf32>
  %lane = gpu.lane_id
  %v = xegpu.load_nd %s : !xegpu.tensor_desc<2x16xf32> -> vector<2xf32>
  xegpu.store_nd %v, %t : vector<2xf32>, !xegpu.tensor_desc<2x16xf32>"""
    signature = "%m: memref<5x7xf32>, %o: memref<5x7xf32>"
    run(signature, body.replace("COLUMN", "1, 2"), [MATRIX, out], block=ONE)
    expected = np.zeros((5, 7), np.float32)
    expected[1:3, 2:] = MATRIX[2:4, :5]
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(KernelFault, match="to access one block, got several"):
        run(
            signature,
            body.replace("COLUMN", "1, %lane")
            .replace("%lane = gpu.lane_id", "")
            .replace("  %t =", "  %lane = gpu.lane_id\n  %t ="),
            [MATRIX, out],
            block=ONE,
        )
