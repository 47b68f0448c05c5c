"""vector's operations in the interpreter, against numpy."""

import math
from typing import Any

import numpy as np
import pytest

from tests.oracle import KernelFault
from tests.oracle.tests.interpret_kernels import Array, compute, run

A = np.arange(2 * 3 * 4, dtype=np.int32).reshape(2, 3, 4)
VALUES = {"a": ("vector<2x3x4xi32>", A)}


def apply(operation: str, result: str, inputs: dict[str, tuple[str, Any]] | None = None) -> Array:
    return compute(f"  %out = {operation}", inputs or VALUES, result)


def test_broadcast_repeats_along_leading_dimensions_and_those_of_one() -> None:
    row = {"a": ("vector<3x1xi32>", [[1], [2], [3]])}
    got = apply("vector.broadcast %a : vector<3x1xi32> to vector<2x3x4xi32>", "vector<2x3x4xi32>", row)
    np.testing.assert_array_equal(got, np.broadcast_to([[1], [2], [3]], (2, 3, 4)))
    for name in ("vector.broadcast", "vector.splat"):
        got = apply(f'"{name}"(%a) : (f32) -> vector<2x3xf32>', "vector<2x3xf32>", {"a": ("f32", 2.5)})
        np.testing.assert_array_equal(got, np.full((2, 3), 2.5))


def test_transpose() -> None:
    got = apply("vector.transpose %a, [2, 0, 1] : vector<2x3x4xi32> to vector<4x2x3xi32>", "vector<4x2x3xi32>")
    np.testing.assert_array_equal(got, A.transpose(2, 0, 1))


def test_shape_cast() -> None:
    got = apply("vector.shape_cast %a : vector<2x3x4xi32> to vector<6x4xi32>", "vector<6x4xi32>")
    np.testing.assert_array_equal(got, A.reshape(6, 4))


def test_bitcast_changes_the_last_dimension() -> None:
    values = np.array([[1.5, -2], [0, 3]], np.float32)
    got = apply(
        "vector.bitcast %a : vector<2x2xf32> to vector<2x4xi16>", "vector<2x4xi16>", {"a": ("vector<2x2xf32>", values)}
    )
    np.testing.assert_array_equal(got, values.view(np.int16))
    back = apply(
        "vector.bitcast %a : vector<4xbf16> to vector<2xf32>",
        "vector<2xf32>",
        {"a": ("vector<4xbf16>", values[0].view(np.uint16))},
    )
    np.testing.assert_array_equal(back, values[0])


def test_step() -> None:
    assert apply("vector.step : vector<5xindex>", "vector<5xindex>").tolist() == [0, 1, 2, 3, 4]


REDUCTIONS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions_of_integers(kind: str) -> None:
    values = A.astype(np.int8) * 11 - 100
    start = np.array([5, -5, 3], np.int8)
    inputs = {"a": ("vector<2x3x4xi8>", values), "s": ("vector<3xi8>", start)}
    got = apply(
        f"vector.multi_reduction <{kind}>, %a, %s [0, 2] : vector<2x3x4xi8> to vector<3xi8>", "vector<3xi8>", inputs
    )
    ufunc = REDUCTIONS[kind]
    np.testing.assert_array_equal(got, ufunc(ufunc.reduce(values, axis=(0, 2), dtype=np.int8), start))


@pytest.mark.parametrize(("kind", "expected"), [("minui", [1, 3]), ("maxui", [255, 200])])
def test_reductions_of_unsigned_integers(kind: str, expected: list[int]) -> None:
    inputs = {
        "a": ("vector<2x3xi8>", np.array([[1, 255, 7], [3, 200, 128]], np.uint8).view(np.int8)),
        "s": ("vector<2xi8>", [5, 9]),
    }
    got = apply(f"vector.multi_reduction <{kind}>, %a, %s [1] : vector<2x3xi8> to vector<2xi8>", "vector<2xi8>", inputs)
    assert got.view(np.uint8).tolist() == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("minnumf", [1, 2]), ("maxnumf", [4, 6]), ("minimumf", [math.nan, 2]), ("maximumf", [math.nan, 6])],
)
def test_reductions_of_floats_and_nan(kind: str, expected: list[float]) -> None:
    inputs = {"a": ("vector<2x3xf16>", [[4, math.nan, 1], [2, 6, 5]]), "s": ("vector<2xf16>", [3, 3])}
    got = apply(
        f"vector.multi_reduction <{kind}>, %a, %s [1] : vector<2x3xf16> to vector<2xf16>", "vector<2xf16>", inputs
    )
    np.testing.assert_array_equal(got, expected)


def test_sums_of_floats_round_once() -> None:
    values = np.array([2048, 1, 1, 1], np.float16)  # 2049 is no float16: each partial sum would fall back to 2048
    inputs = {"a": ("vector<4xf16>", values), "s": ("f16", 0)}
    assert apply("vector.reduction <add>, %a : vector<4xf16> into f16", "f16", inputs) == 2052
    assert apply("vector.reduction <add>, %a, %s : vector<4xf16> into f16", "f16", inputs) == 2052
    assert apply("vector.multi_reduction <add>, %a, %s [0] : vector<4xf16> to f16", "f16", inputs) == 2052


def test_extract_and_insert_with_positions_known_and_not() -> None:
    inputs = VALUES | {"i": ("index", 1), "x": ("i32", -9)}
    assert apply("vector.extract %a[1, 2, 3] : i32 from vector<2x3x4xi32>", "i32", inputs) == 23
    np.testing.assert_array_equal(
        apply("vector.extract %a[%i] : vector<3x4xi32> from vector<2x3x4xi32>", "vector<3x4xi32>", inputs), A[1]
    )
    got = apply("vector.insert %x, %a[%i, 0, 2] : i32 into vector<2x3x4xi32>", "vector<2x3x4xi32>", inputs)
    expected = A.copy()
    expected[1, 0, 2] = -9
    np.testing.assert_array_equal(got, expected)
    with pytest.raises(KernelFault, match=r"expected a position within \[2, 3, 4\], got \[2\]"):
        apply(
            "vector.extract %a[%i] : vector<3x4xi32> from vector<2x3x4xi32>",
            "vector<3x4xi32>",
            inputs | {"i": ("index", 2)},
        )


def test_slices() -> None:
    got = apply(
        "vector.extract_strided_slice %a {offsets = [1, 0], sizes = [1, 2], strides = [1, 1]} "
        ": vector<2x3x4xi32> to vector<1x2x4xi32>",
        "vector<1x2x4xi32>",
    )
    np.testing.assert_array_equal(got, A[1:2, 0:2])
    part = {"p": ("vector<2x3xi32>", [[1, 2, 3], [4, 5, 6]])}
    got = apply(
        "vector.insert_strided_slice %p, %a {offsets = [1, 1, 0], strides = [1, 1]} "
        ": vector<2x3xi32> into vector<2x3x4xi32>",
        "vector<2x3x4xi32>",
        VALUES | part,
    )
    expected = A.copy()
    expected[1, 1:3, 0:3] = [[1, 2, 3], [4, 5, 6]]
    np.testing.assert_array_equal(got, expected)


def test_shuffle_and_interleave() -> None:
    inputs = {"a": ("vector<3xi32>", [1, 2, 3]), "b": ("vector<3xi32>", [4, 5, 6])}
    assert apply(
        "vector.shuffle %a, %b [5, 0, 4, 2] : vector<3xi32>, vector<3xi32>", "vector<4xi32>", inputs
    ).tolist() == [6, 1, 5, 3]
    types = "(vector<3xi32>, vector<3xi32>) -> vector<6xi32>"
    assert apply(f'"vector.interleave"(%a, %b) : {types}', "vector<6xi32>", inputs).tolist() == [1, 4, 2, 5, 3, 6]
    body = '%x, %out = "vector.deinterleave"(%a) : (vector<4xi32>) -> (vector<2xi32>, vector<2xi32>)'
    assert compute(body, {"a": ("vector<4xi32>", [1, 2, 3, 4])}, "vector<2xi32>").tolist() == [2, 4]


def test_from_and_to_elements() -> None:
    inputs = {name: ("i32", value) for name, value in zip("abcd", (3, 1, 4, 1), strict=True)}
    got = apply("vector.from_elements %a, %b, %c, %d : vector<2x2xi32>", "vector<2x2xi32>", inputs)
    assert got.tolist() == [[3, 1], [4, 1]]
    body = '%x:3 = "vector.to_elements"(%a) : (vector<3xi32>) -> (i32, i32, i32)\n%out = arith.subi %x#2, %x#0 : i32'
    assert compute(body, {"a": ("vector<3xi32>", [2, 3, 9])}, "i32") == 7


def test_masks() -> None:
    inputs = {"i": ("index", 2), "j": ("index", 9)}
    got = apply("vector.create_mask %i, %j : vector<3x4xi1>", "vector<3x4xi1>", inputs)
    np.testing.assert_array_equal(got, np.repeat([[True], [True], [False]], 4, axis=1))
    got = apply("vector.constant_mask [1, 2] : vector<2x3xi1>", "vector<2x3xi1>", inputs)
    assert got.tolist() == [[True, True, False], [False, False, False]]


def test_outer_product() -> None:
    inputs = {
        "a": ("vector<2xf32>", [2, 3]),
        "b": ("vector<3xf32>", [1, 5, 7]),
        "c": ("vector<2x3xf32>", np.ones((2, 3))),
    }
    types = "(vector<2xf32>, vector<3xf32>, vector<2x3xf32>) -> vector<2x3xf32>"
    got = apply(
        f'"vector.outerproduct"(%a, %b, %c) <{{kind = #vector.kind<add>}}> : {types}', "vector<2x3xf32>", inputs
    )
    np.testing.assert_array_equal(got, np.outer([2, 3], [1, 5, 7]) + 1)


def contract(maps: tuple[str, str, str], iterators: str, kind: str, types: str) -> str:
    dims = "d0, d1, d2"
    affine = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
    entries = f"indexing_maps = [{affine}], iterator_types = [{iterators}], kind = #vector.kind<{kind}>"
    return f"vector.contract {{{entries}}} %a, %b, %c : {types}"


def test_contract_sums_products_in_float64() -> None:
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((3, 5), (4, 5), (4, 3)))
    inputs = {"a": ("vector<3x5xf32>", a), "b": ("vector<4x5xf32>", b), "c": ("vector<4x3xf32>", c)}
    operation = contract(
        ("d0, d2", "d1, d2", "d1, d0"),
        '"parallel", "parallel", "reduction"',
        "add",
        "vector<3x5xf32>, vector<4x5xf32> into vector<4x3xf32>",
    )
    exact = b.astype(float) @ a.astype(float).T + c
    np.testing.assert_array_equal(apply(operation, "vector<4x3xf32>", inputs), exact.astype(np.float32))


def test_contract_of_another_kind() -> None:
    a, b = np.array([[1, -2, 3], [4, 5, -6]], np.int32), np.array([[2, 1], [0, 3], [1, 1]], np.int32)
    c = np.full((2, 2), 2, np.int32)
    inputs = {"a": ("vector<2x3xi32>", a), "b": ("vector<3x2xi32>", b), "c": ("vector<2x2xi32>", c)}
    operation = contract(
        ("d0, d2", "d2, d1", "d0, d1"),
        '"parallel", "parallel", "reduction"',
        "maxsi",
        "vector<2x3xi32>, vector<3x2xi32> into vector<2x2xi32>",
    )
    expected = np.maximum((a[:, :, None] * b[None]).max(axis=1), 2)
    np.testing.assert_array_equal(apply(operation, "vector<2x2xi32>", inputs), expected)


def transfer(body: str, source: Array, result_shape: tuple[int, ...], memref: str = "memref<5x7xf32>") -> Array:
    out = np.zeros(result_shape, np.float32)
    shape = "x".join(map(str, result_shape))
    run(
        f"%m: {memref}, %o: memref<{shape}xf32>",
        f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = arith.constant -1.0 : f32
  {body}
  vector.store %v, %o[{", ".join(["%c0"] * len(result_shape))}] : memref<{shape}xf32>, vector<{shape}xf32>""",
        [source, out],
    )
    return out


MATRIX = np.arange(35, dtype=np.float32).reshape(5, 7)


def test_transfer_reads_pad_what_is_outside() -> None:
    got = transfer("%v = vector.transfer_read %m[%c3, %c1], %p : memref<5x7xf32>, vector<4x8xf32>", MATRIX, (4, 8))
    expected = np.full((4, 8), -1, np.float32)
    expected[:2, :6] = MATRIX[3:5, 1:7]
    np.testing.assert_array_equal(got, expected)


def test_transfer_reads_permute_and_repeat() -> None:
    read = "%v = vector.transfer_read %m[%c1, %c3], %p"
    types = "memref<5x7xf32>, vector<2x3xf32>"
    got = transfer(f"{read} {{permutation_map = affine_map<(d0, d1) -> (d1, d0)>}} : {types}", MATRIX, (2, 3))
    np.testing.assert_array_equal(got, MATRIX[1:4, 3:5].T)
    got = transfer(f"{read} {{permutation_map = affine_map<(d0, d1) -> (0, d1)>}} : {types}", MATRIX, (2, 3))
    np.testing.assert_array_equal(got, np.broadcast_to(MATRIX[1, 3:6], (2, 3)))


def test_masked_transfer_reads() -> None:
    body = """%k = vector.constant_mask [2, 1] : vector<3x2xi1>
  %v = vector.transfer_read %m[%c1, %c3], %p, %k {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
    : memref<5x7xf32>, vector<2x3xf32>"""
    got = transfer(body, MATRIX, (2, 3))
    assert got.tolist() == [[10, 17, -1], [-1, -1, -1]]


def test_a_transfer_that_breaks_its_word_is_a_fault() -> None:
    body = "%v = vector.transfer_read %m[%c3, %c1], %p {in_bounds = [true, false]} : memref<5x7xf32>, vector<4x8xf32>"
    with pytest.raises(
        KernelFault, match=r"expected a transfer within a memref of \[5, 7\], got one outside, at `%v = "
    ):
        transfer(body, MATRIX, (4, 8))


def test_transfer_writes_drop_what_is_outside() -> None:
    matrix = MATRIX.copy()
    run(
        "%m: memref<5x7xf32>",
        """
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %v = arith.constant dense<9.0> : vector<4x4xf32>
  vector.transfer_write %v, %m[%c3, %c5] : vector<4x4xf32>, memref<5x7xf32>""",
        [matrix],
    )
    expected = MATRIX.copy()
    expected[3:, 5:] = 9
    np.testing.assert_array_equal(matrix, expected)


def test_loads_and_stores_must_stay_inside() -> None:
    got = transfer("%v = vector.load %m[%c3, %c1] : memref<5x7xf32>, vector<2x3xf32>", MATRIX, (2, 3))
    np.testing.assert_array_equal(got, MATRIX[3:5, 1:4])
    with pytest.raises(KernelFault, match=r"expected a vector within a memref of \[5, 7\], got one outside"):
        transfer("%v = vector.load %m[%c3, %c1] : memref<5x7xf32>, vector<2x8xf32>", MATRIX, (2, 8))


def test_masked_loads_and_stores() -> None:
    body = """%k = vector.constant_mask [3] : vector<8xi1>
  %t = arith.constant dense<5.0> : vector<8xf32>
  %v = vector.maskedload %m[%c3, %c3], %k, %t : memref<5x7xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %m[%c1, %c3], %k, %t : memref<5x7xf32>, vector<8xi1>, vector<8xf32>"""
    matrix = MATRIX.copy()
    got = transfer(body, matrix, (8,))
    assert got.tolist() == [24, 25, 26, 5, 5, 5, 5, 5]
    assert matrix[1].tolist() == [7, 8, 9, 5, 5, 5, 13]


def test_gather_and_scatter() -> None:
    body = """%k = vector.constant_mask [2] : vector<3xi1>
  %i = arith.constant dense<[2, 0, 999]> : vector<3xi32>
  %t = arith.constant dense<5.0> : vector<3xf32>
  %v = "vector.gather"(%m, %c1, %c1, %i, %k, %t)
    : (memref<5x7xf32>, index, index, vector<3xi32>, vector<3xi1>, vector<3xf32>) -> vector<3xf32>
  "vector.scatter"(%m, %c3, %c0, %i, %k, %t)
    : (memref<5x7xf32>, index, index, vector<3xi32>, vector<3xi1>, vector<3xf32>) -> ()"""
    matrix = MATRIX.copy()
    assert transfer(body, matrix, (3,)).tolist() == [10, 8, 5]
    assert matrix[3].tolist() == [5, 22, 5, 24, 25, 26, 27]
