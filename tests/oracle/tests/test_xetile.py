"""XeTile's operations in the interpreter, against numpy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import KernelFault
from tests.oracle.tests.interpret_kernels import Array, from_bf16, run, to_bf16

MATRIX = np.arange(35, dtype=np.float32).reshape(5, 7)
ONE = (16, 1, 1)


def padded(matrix: Array, row: int, column: int, shape: tuple[int, int], padding: float = 0) -> Array:
    """Return the block of a matrix at any offset, element by element."""
    block = np.full(shape, padding, matrix.dtype)
    for i, j in np.ndindex(shape):
        if 0 <= row + i < matrix.shape[0] and 0 <= column + j < matrix.shape[1]:
            block[i, j] = matrix[row + i, column + j]
    return block


def load(init: str, tile: str, shape: tuple[int, ...], args: list[Any], signature: str, properties: str = "") -> Array:
    """Return the result of loading a tile; `init` defines `%t` from the arguments of the signature."""
    out = np.full(shape, -77, np.float32)
    extents = "x".join(map(str, shape))
    body = f"""
  {init}
  %v = xetile.load_tile %t {properties} : {tile} -> vector<{extents}xf32>
  %z = arith.constant 0 : index
  vector.store %v, %out[{", ".join(["%z"] * len(shape))}] : memref<{extents}xf32>, vector<{extents}xf32>"""
    run(f"{signature}, %out: memref<{extents}xf32>", body, [*args, out], block=ONE)
    return out


@given(st.integers(-6, 8), st.integers(-6, 9), st.sampled_from(["", "{padding = 2.5 : f32}"]))
@settings(max_examples=30)
def test_a_tile_anywhere_loads_what_is_inside_and_pads_the_rest(row: int, column: int, properties: str) -> None:
    tile = "!xetile.tile<3x4xf32>"
    init = f"%t = xetile.init_tile %m[%r, %c] : memref<5x7xf32> -> {tile}"
    got = load(init, tile, (3, 4), [MATRIX, row, column], "%m: memref<5x7xf32>, %r: index, %c: index", properties)
    np.testing.assert_array_equal(got, padded(MATRIX, row, column, (3, 4), 2.5 if properties else 0))


@given(st.integers(-6, 8), st.integers(-6, 9))
@settings(max_examples=20)
def test_a_tile_anywhere_stores_what_is_inside(row: int, column: int) -> None:
    matrix, value = MATRIX.copy(), 100 + np.arange(12, dtype=np.float32).reshape(3, 4)
    body = """
  %z = arith.constant 0 : index
  %v = vector.load %a[%z, %z] : memref<3x4xf32>, vector<3x4xf32>
  %t = xetile.init_tile %m[%r, %c] : memref<5x7xf32> -> !xetile.tile<3x4xf32>
  xetile.store_tile %v, %t : vector<3x4xf32>, !xetile.tile<3x4xf32>"""
    signature = "%m: memref<5x7xf32>, %a: memref<3x4xf32>, %r: index, %c: index"
    run(signature, body, [matrix, value, row, column], block=ONE)
    expected = MATRIX.copy()
    for i, j in np.ndindex(3, 4):
        if 0 <= row + i < 5 and 0 <= column + j < 7:
            expected[row + i, column + j] = value[i, j]
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize(
    ("source", "memref"),
    [
        (np.asfortranarray(MATRIX), "memref<5x7xf32, affine_map<(d0, d1) -> (d1, d0)>>"),
        (np.asfortranarray(MATRIX), "memref<5x7xf32, strided<[1, 5]>>"),
    ],
)
def test_order_is_the_order_in_memory(source: Array, memref: str) -> None:
    tile = "!xetile.tile<3x4xf32, #xetile.tile_attr<order = [0, 1]>>"
    init = f"%t = xetile.init_tile %m[3, 2] : {memref} -> {tile}"
    got = load(init, tile, (3, 4), [source], f"%m: {memref}")
    np.testing.assert_array_equal(got, padded(MATRIX, 3, 2, (3, 4)))


@pytest.mark.parametrize("base", ["memref<?x?xf32>", "i64"])
def test_a_base_that_is_told_its_sizes_and_strides(base: str) -> None:
    """A 4 by 6 matrix in rows of 7: elements beyond the sizes are padded, though memory is there."""
    tile = "!xetile.tile<3x4xf32>"
    init = f"""%c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %t = xetile.init_tile %m[2, 3], [4, %c6], [%c7, 1] : {base} -> {tile}"""
    got = load(init, tile, (3, 4), [MATRIX], f"%m: {base}")
    np.testing.assert_array_equal(got, padded(MATRIX[:4, :6], 2, 3, (3, 4)))


def test_a_transposed_view_of_an_address() -> None:
    tile = "!xetile.tile<4x3xf32, #xetile.tile_attr<order = [0, 1]>>"
    init = f"""%c7 = arith.constant 7 : index
  %t = xetile.init_tile %m[5, 2], [7, 5], [1, %c7] : i64 -> {tile}"""
    np.testing.assert_array_equal(load(init, tile, (4, 3), [MATRIX], "%m: i64"), padded(MATRIX.T, 5, 2, (4, 3)))


@pytest.mark.parametrize(("batch", "inside"), [(1, True), (2, False)])
def test_dimensions_in_front_index_the_base(batch: int, inside: bool) -> None:
    stack = np.stack([MATRIX, MATRIX + 100])
    tile = "!xetile.tile<3x4xf32>"
    init = f"%t = xetile.init_tile %m[%b, 3, 2] : memref<2x5x7xf32> -> {tile}"
    got = load(init, tile, (3, 4), [stack, batch], "%m: memref<2x5x7xf32>, %b: index")
    np.testing.assert_array_equal(got, padded(stack[1], 3, 2, (3, 4)) if inside else np.zeros((3, 4)))


def test_tiles_move() -> None:
    tile = "!xetile.tile<3x4xf32>"
    init = f"""%u = xetile.init_tile %m[1, 5] : memref<5x7xf32> -> {tile}
  %w = xetile.update_tile_offset %u, [%d, -3] : {tile}
  %t = xetile.update_tile_offset %w, [%d, 0] : {tile}"""
    got = load(init, tile, (3, 4), [MATRIX, 1], "%m: memref<5x7xf32>, %d: index")
    np.testing.assert_array_equal(got, padded(MATRIX, 3, 2, (3, 4)))


def test_blocks_of_a_tile() -> None:
    tile = "!xetile.tile<4x6xf32, #xetile.tile_attr<inner_blocks = [2, 3]>>"
    init = f"%t = xetile.init_tile %m[2, 3] : memref<5x7xf32> -> {tile}"
    got = load(init, tile, (2, 2, 2, 3), [MATRIX], "%m: memref<5x7xf32>")
    matrix = padded(MATRIX, 2, 3, (4, 6))
    for i, j in np.ndindex(4, 6):
        assert got[i // 2, j // 3, i % 2, j % 3] == matrix[i, j]
    stored = np.zeros((5, 7), np.float32)
    body = f"""
  %z = arith.constant 0 : index
  %v = vector.load %a[%z, %z, %z, %z] : memref<2x2x2x3xf32>, vector<2x2x2x3xf32>
  %t = xetile.init_tile %m[1, 0] : memref<5x7xf32> -> {tile}
  xetile.store_tile %v, %t : vector<2x2x2x3xf32>, {tile}"""
    run("%m: memref<5x7xf32>, %a: memref<2x2x2x3xf32>", body, [stored, got], block=ONE)
    np.testing.assert_array_equal(stored[1:5, :6], matrix)


def test_array_length_gives_neighbouring_blocks() -> None:
    out = np.zeros((2, 3, 2), np.float32)
    tile = "!xetile.tile<3x2xf32, #xetile.tile_attr<array_length = 2 : i64>>"
    body = f"""
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = xetile.init_tile %m[1, 4] : memref<5x7xf32> -> {tile}
  %v:2 = xetile.load_tile %t : {tile} -> vector<3x2xf32>, vector<3x2xf32>
  vector.store %v#0, %o[%z, %z, %z] : memref<2x3x2xf32>, vector<3x2xf32>
  vector.store %v#1, %o[%one, %z, %z] : memref<2x3x2xf32>, vector<3x2xf32>"""
    run("%m: memref<5x7xf32>, %o: memref<2x3x2xf32>", body, [MATRIX, out], block=ONE)
    np.testing.assert_array_equal(out[0], MATRIX[1:4, 4:6])
    np.testing.assert_array_equal(out[1], padded(MATRIX, 1, 6, (3, 2)))


def test_tiles_in_shared_local_memory() -> None:
    """A copy there and back by a whole work-group; prefetches and barriers do not change values."""
    out = np.zeros((5, 7), np.float32)
    wg, slm = "wg_map = <sg_layout = [2, 1], sg_data = [2, 4]>", "memory_space = 3 : i32"
    plain, shared = (
        f"!xetile.tile<4x4xf32, #xetile.tile_attr<{wg}>>",
        f"!xetile.tile<4x4xf32, #xetile.tile_attr<{wg}, {slm}>>",
    )
    body = f"""
  %b = memref.alloc() : memref<4x8xf32, 3>
  %t = xetile.init_tile %m[2, 1] : memref<5x7xf32> -> {plain}
  xetile.prefetch_tile %t : {plain}
  %v = xetile.load_tile %t : {plain} -> vector<4x4xf32>
  %s = xetile.init_tile %b[0, 4] : memref<4x8xf32, 3> -> {shared}
  xetile.store_tile %v, %s : vector<4x4xf32>, {shared}
  gpu.barrier
  %w = xetile.load_tile %s : {shared} -> vector<4x4xf32>
  %o2 = xetile.init_tile %o[0, 0] : memref<5x7xf32> -> {plain}
  xetile.store_tile %w, %o2 : vector<4x4xf32>, {plain}"""
    run("%m: memref<5x7xf32>, %o: memref<5x7xf32>", body, [MATRIX, out])
    np.testing.assert_array_equal(out[:4, :4], padded(MATRIX, 2, 1, (4, 4)))


def vectors(
    body: str, inputs: dict[str, Array], shape: tuple[int, ...], element: str = "f32", dtype: Any = np.float32
) -> Array:
    """Return `%out` of `body`; inputs and output have one element type."""
    out = np.zeros(shape, dtype)
    named = {**inputs, "out": out}
    types = {name: f"{'x'.join(map(str, a.shape))}x{element}" for name, a in named.items()}
    zeros = {name: ", ".join(["%z"] * a.ndim) for name, a in named.items()}
    loads = [f"  %{n} = vector.load %{n}_m[{zeros[n]}] : memref<{types[n]}>, vector<{types[n]}>" for n in inputs]
    store = f"  vector.store %out, %out_m[{zeros['out']}] : memref<{types['out']}>, vector<{types['out']}>"
    signature = ", ".join(f"%{name}_m: memref<{t}>" for name, t in types.items())
    run(signature, "\n".join(["  %z = arith.constant 0 : index", *loads, body, store]), list(named.values()), block=ONE)
    return out


RNG = np.random.default_rng(5)


def test_tile_mma_adds_to_c_or_to_nothing() -> None:
    a, b, c = (RNG.standard_normal(s).astype(np.float32) for s in ((3, 4), (4, 5), (3, 5)))
    types = "vector<3x4xf32>, vector<4x5xf32>"
    exact = a.astype(float) @ b.astype(float)
    got = vectors(f"%out = xetile.tile_mma %a, %b : {types} -> vector<3x5xf32>", {"a": a, "b": b}, (3, 5))
    np.testing.assert_array_equal(got, exact.astype(np.float32))
    operation = f"%out = xetile.tile_mma %a, %b, %c : {types}, vector<3x5xf32> -> vector<3x5xf32>"
    got = vectors(operation, {"a": a, "b": b, "c": c}, (3, 5))
    np.testing.assert_array_equal(got, (exact + c).astype(np.float32))


def test_tile_mma_of_bf16_rounds_once() -> None:
    a, b = np.array([[256, 1, 1]], np.float32), np.array([[1, 2], [1, 0], [1, 0]], np.float32)
    operation = "%out = xetile.tile_mma %a, %b : vector<1x3xbf16>, vector<3x2xbf16> -> vector<1x2xbf16>"
    got = vectors(operation, {"a": to_bf16(a), "b": to_bf16(b)}, (1, 2), "bf16", np.uint16)
    assert from_bf16(got).tolist() == [[258, 512]]


def test_tile_mma_of_integers_wraps_around() -> None:
    a, b = np.array([[100, 100, -3]], np.int8), np.array([[100, 1], [100, 2], [1, 3]], np.int8)
    operation = "%out = xetile.tile_mma %a, %b : vector<1x3xi8>, vector<3x2xi8> -> vector<1x2xi8>"
    expected = (a.astype(int) @ b.astype(int)).astype(np.int8)
    np.testing.assert_array_equal(vectors(operation, {"a": a, "b": b}, (1, 2), "i8", np.int8), expected)


def test_tile_mma_of_blocks() -> None:
    a, b, c = (RNG.standard_normal(s).astype(np.float32) for s in ((4, 6), (6, 10), (4, 10)))
    body = """
  %pa = xetile.tile_pack %a {inner_blocks = array<i64: 2, 3>} : vector<4x6xf32> -> vector<2x2x2x3xf32>
  %pb = xetile.tile_pack %b {inner_blocks = array<i64: 3, 5>} : vector<6x10xf32> -> vector<2x2x3x5xf32>
  %pc = xetile.tile_pack %c {inner_blocks = array<i64: 2, 5>} : vector<4x10xf32> -> vector<2x2x2x5xf32>
  %d = xetile.tile_mma %pa, %pb, %pc
    : vector<2x2x2x3xf32>, vector<2x2x3x5xf32>, vector<2x2x2x5xf32> -> vector<2x2x2x5xf32>
  %out = xetile.tile_unpack %d {inner_blocks = array<i64: 2, 5>} : vector<2x2x2x5xf32> -> vector<4x10xf32>"""
    expected = (a.astype(float) @ b.astype(float) + c).astype(np.float32)
    np.testing.assert_array_equal(vectors(body, {"a": a, "b": b, "c": c}, (4, 10)), expected)


def test_pack_and_unpack() -> None:
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    pack = "%out = xetile.tile_pack %a {inner_blocks = array<i64: 2, 3>} : vector<4x6xf32> -> vector<2x2x2x3xf32>"
    got = vectors(pack, {"a": a}, (2, 2, 2, 3))
    assert got[1, 0].tolist() == a[2:4, :3].tolist()
    unpack = "%out = xetile.tile_unpack %a {inner_blocks = array<i64: 2, 3>} : vector<2x2x2x3xf32> -> vector<4x6xf32>"
    np.testing.assert_array_equal(vectors(unpack, {"a": got}, (4, 6)), a)


def test_transpose_and_convert_layout() -> None:
    a = RNG.standard_normal((3, 5)).astype(np.float32)
    got = vectors("%out = xetile.transpose %a, [1, 0] : vector<3x5xf32> -> vector<5x3xf32>", {"a": a}, (5, 3))
    np.testing.assert_array_equal(got, a.T)
    maps = "{wg_map_result = #xetile.wg_map<sg_layout = [3, 1], sg_data = [1, 5]>}"
    got = vectors(f"%out = xetile.convert_layout %a {maps} : vector<3x5xf32>", {"a": a}, (3, 5))
    np.testing.assert_array_equal(got, a)


INTEGER_KINDS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
FLOAT_KINDS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "minnumf": np.minimum,
    "maxnumf": np.maximum,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
}


@pytest.mark.parametrize("kind", INTEGER_KINDS)
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_integers(kind: str, axis: int) -> None:
    a = RNG.integers(-128, 127, (4, 6)).astype(np.int8)
    shape = (1, 6) if axis == 0 else (4, 1)
    operation = f"%out = xetile.reduction <{kind}>, %a [{axis}] : vector<4x6xi8> -> vector<{shape[0]}x{shape[1]}xi8>"
    expected = INTEGER_KINDS[kind].reduce(a, axis=axis, keepdims=True, dtype=np.int8)
    np.testing.assert_array_equal(vectors(operation, {"a": a}, shape, "i8", np.int8), expected)


@pytest.mark.parametrize(("kind", "function"), [("minui", np.minimum), ("maxui", np.maximum)])
def test_reductions_of_unsigned_integers(kind: str, function: Any) -> None:
    a = RNG.integers(0, 255, (4, 6)).astype(np.uint8)
    operation = f"%out = xetile.reduction <{kind}>, %a [1] : vector<4x6xi8> -> vector<4x1xi8>"
    got = vectors(operation, {"a": a.view(np.int8)}, (4, 1), "i8", np.int8)
    np.testing.assert_array_equal(got.view(np.uint8), function.reduce(a, axis=1, keepdims=True))


@pytest.mark.parametrize("kind", FLOAT_KINDS)
def test_reductions_of_floats_and_of_blocks(kind: str) -> None:
    a = RNG.standard_normal((4, 6)).astype(np.float32)
    exact = FLOAT_KINDS[kind].reduce(a.astype(np.float64), axis=1, keepdims=True).astype(np.float32)
    flat = f"%out = xetile.reduction <{kind}>, %a [1] : vector<4x6xf32> -> vector<4x1xf32>"
    np.testing.assert_array_equal(vectors(flat, {"a": a}, (4, 1)), exact)
    blocked = f"""
  %p = xetile.tile_pack %a {{inner_blocks = array<i64: 2, 3>}} : vector<4x6xf32> -> vector<2x2x2x3xf32>
  %out = xetile.reduction <{kind}>, %p [1, 3] : vector<2x2x2x3xf32> -> vector<2x1x2x1xf32>"""
    np.testing.assert_array_equal(vectors(blocked, {"a": a}, (2, 1, 2, 1)).reshape(4, 1), exact)


def test_broadcasts() -> None:
    row, column = np.array([[1, 2, 3]], np.float32), np.array([[4], [5]], np.float32)
    got = vectors("%out = xetile.broadcast %a [0] : vector<1x3xf32> -> vector<2x3xf32>", {"a": row}, (2, 3))
    assert got.tolist() == [[1, 2, 3], [1, 2, 3]]
    got = vectors("%out = xetile.broadcast %a [1] : vector<2x1xf32> -> vector<2x3xf32>", {"a": column}, (2, 3))
    assert got.tolist() == [[4, 4, 4], [5, 5, 5]]
    blocks = np.array([[4], [5]], np.float32).reshape(1, 1, 2, 1)
    operation = "%out = xetile.broadcast %a [1, 3] : vector<1x1x2x1xf32> -> vector<1x3x2x2xf32>"
    np.testing.assert_array_equal(
        vectors(operation, {"a": blocks}, (1, 3, 2, 2)), np.broadcast_to(blocks, (1, 3, 2, 2))
    )


SCATTERED = "!xetile.tile<1x4xf32, #xetile.tile_attr<scattered = true>>"
GATHER = f"""
  %z = arith.constant 0 : index
  %i = arith.constant dense<[[3, -1, 34, 35]]> : vector<1x4xindex>
  %k = arith.constant dense<[[true, true, true, true]]> : vector<1x4xi1>
  %t = xetile.init_tile %m, %i : memref<5x7xf32>, vector<1x4xindex> -> {SCATTERED}
"""


def test_gathers_pad_what_is_outside_or_masked() -> None:
    out = np.zeros((1, 4), np.float32)
    body = f"""{GATHER}
  %v = xetile.load %t, %k {{padding = 0.5 : f32}} : {SCATTERED}, vector<1x4xi1> -> vector<1x4xf32>
  vector.store %v, %o[%z, %z] : memref<1x4xf32>, vector<1x4xf32>"""
    signature = "%m: memref<5x7xf32>, %o: memref<1x4xf32>"
    run(signature, body, [MATRIX, out], block=ONE)
    assert out.tolist() == [[3, 0.5, 34, 0.5]]
    run(signature, body.replace("[[true, true, true, true]]", "[[false, true, true, true]]"), [MATRIX, out], block=ONE)
    assert out.tolist() == [[0.5, 0.5, 34, 0.5]]
    update = f"""%j = arith.constant dense<[[1, 2, -4, -5]]> : vector<1x4xindex>
  %u = xetile.update_tile_offset %t, %j : {SCATTERED}, vector<1x4xindex>
  %v ="""
    moved = body.replace("%v =", update)
    run(signature, moved.replace("load %t", "load %u"), [MATRIX, out], block=ONE)
    assert out.tolist() == [[4, 1, 30, 30]]


def test_scatters_drop_what_is_outside_or_masked() -> None:
    matrix = MATRIX.copy()
    body = f"""{GATHER.replace("[[true, true, true, true]]", "[[true, true, false, true]]")}
  %v = arith.constant dense<-9.0> : vector<1x4xf32>
  xetile.store %v, %t, %k : vector<1x4xf32>, {SCATTERED}, vector<1x4xi1>"""
    run("%m: memref<5x7xf32>", body, [matrix], block=ONE)
    expected = MATRIX.copy()
    expected[0, 3] = -9
    np.testing.assert_array_equal(matrix, expected)


def test_atomic_updates_of_a_tile_give_the_old_values() -> None:
    matrix, old = MATRIX.copy(), np.full((3, 4), -1, np.float32)
    body = """
  %z = arith.constant 0 : index
  %v = arith.constant dense<0.5> : vector<3x4xf32>
  %t = xetile.init_tile %m[3, 4] : memref<5x7xf32> -> !xetile.tile<3x4xf32>
  %w = xetile.atomic_rmw addf %v, %t : vector<3x4xf32>, !xetile.tile<3x4xf32> -> vector<3x4xf32>
  vector.store %w, %o[%z, %z] : memref<3x4xf32>, vector<3x4xf32>"""
    run("%m: memref<5x7xf32>, %o: memref<3x4xf32>", body, [matrix, old], block=ONE)
    np.testing.assert_array_equal(old, padded(MATRIX, 3, 4, (3, 4)))
    expected = MATRIX.copy()
    expected[3:, 4:] += 0.5
    np.testing.assert_array_equal(matrix, expected)


def test_atomic_updates_of_one_element_follow_each_other() -> None:
    matrix, old = MATRIX.copy(), np.zeros((1, 4), np.float32)
    body = f"""{GATHER.replace("[[3, -1, 34, 35]]", "[[3, 3, 40, 3]]")}
  %v = arith.constant dense<[[1.0, 2.0, 4.0, 8.0]]> : vector<1x4xf32>
  %w = xetile.atomic_rmw addf %v, %t : vector<1x4xf32>, {SCATTERED} -> vector<1x4xf32>
  vector.store %w, %o[%z, %z] : memref<1x4xf32>, vector<1x4xf32>"""
    run("%m: memref<5x7xf32>, %o: memref<1x4xf32>", body, [matrix, old], block=ONE)
    assert old.tolist() == [[3, 4, 0, 6]]
    assert matrix[0, 3] == 14


ATOMIC: dict[str, Any] = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "assign": lambda a, b: b,
    "maxs": max,
    "mins": min,
    "maxu": lambda a, b: max(a, b, key=lambda v: v % 2**32),
    "minu": lambda a, b: min(a, b, key=lambda v: v % 2**32),
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}
ATOMIC_FLOAT: dict[str, Any] = {
    "mulf": lambda a, b: a * b,
    "maximumf": max,
    "minimumf": min,
    "maxnumf": max,
    "minnumf": min,
}


@pytest.mark.parametrize("kind", [*ATOMIC, *ATOMIC_FLOAT])
def test_kinds_of_atomic_updates(kind: str) -> None:
    element, dtype = ("i32", np.int32) if kind in ATOMIC else ("f32", np.float32)
    values = np.array([[6, -7, 5]], dtype)
    new = "dense<[[4, 9, -3]]>" if kind in ATOMIC else "dense<[[4.0, 9.0, -3.0]]>"
    body = f"""
  %v = arith.constant {new} : vector<1x3x{element}>
  %t = xetile.init_tile %m[0, 0] : memref<1x3x{element}> -> !xetile.tile<1x3x{element}>
  %w = xetile.atomic_rmw {kind} %v, %t : vector<1x3x{element}>, !xetile.tile<1x3x{element}> -> vector<1x3x{element}>"""
    run(f"%m: memref<1x3x{element}>", body, [values], block=ONE)
    function = (ATOMIC | ATOMIC_FLOAT)[kind]
    assert values.tolist() == [[function(a, b) for a, b in zip((6, -7, 5), (4, 9, -3), strict=True)]]


def test_an_address_is_not_checked_against_bounds() -> None:
    body = GATHER.replace("%m, %i : memref<5x7xf32>", "%m, %i : i64")
    body += f"  %v = xetile.load %t, %k : {SCATTERED}, vector<1x4xi1> -> vector<1x4xf32>"
    with pytest.raises(
        KernelFault, match=r"expected accesses within a buffer of 140 bytes, got bytes -4 to 143, at `%v = xetile.load"
    ):
        run("%m: i64", body, [MATRIX], block=ONE)
