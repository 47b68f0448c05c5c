"""arith and math in the interpreter, against numpy and against arithmetic without bounds."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xdsl.dialects.builtin import BFloat16Type

from tests.oracle import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.elements import element_of
from tests.oracle.tests.interpret_kernels import compute, from_bf16, to_bf16

I8 = [-128, -127, -7, -1, 0, 1, 3, 127]
PAIRS = [(a, b) for a in I8 for b in I8]


def integers(name: str, pairs: list[tuple[int, int]], type_: str = "i8") -> list[int]:
    a, b = zip(*pairs, strict=True)
    vector = f"vector<{len(pairs)}x{type_}>"
    body = f'%out = "arith.{name}"(%a, %b) : ({vector}, {vector}) -> {vector}'
    return compute(body, {"a": (vector, a), "b": (vector, b)}, vector).tolist()


def wrapped(value: int) -> int:
    return (value + 128) % 256 - 128


def unsigned(value: int) -> int:
    return value % 256


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER: dict[str, Any] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
    "minui": lambda a, b: min(unsigned(a), unsigned(b)),
    "maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}
DIVISIONS: dict[str, Any] = {
    "divsi": truncated,
    "divui": lambda a, b: unsigned(a) // unsigned(b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
    "remsi": lambda a, b: a - truncated(a, b) * b,
    "remui": lambda a, b: unsigned(a) % unsigned(b),
}
SHIFTS: dict[str, Any] = {
    "shli": lambda a, b: a << b,
    "shrui": lambda a, b: unsigned(a) >> b,
    "shrsi": lambda a, b: a >> b,
}


@pytest.mark.parametrize("name", INTEGER)
def test_integers_wrap_around(name: str) -> None:
    assert integers(name, PAIRS) == [wrapped(INTEGER[name](a, b)) for a, b in PAIRS]


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_round_as_their_names_say(name: str) -> None:
    pairs = [(a, b) for a, b in PAIRS if b != 0]
    assert integers(name, pairs) == [wrapped(DIVISIONS[name](a, b)) for a, b in pairs]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", -4),
        ("sub", -10),
        ("mul", -21),
        ("divs", -2),
        ("divu", (2**64 - 7) // 3),
        ("ceildivs", -2),
        ("floordivs", -3),
        ("rems", -1),
        ("maxs", 3),
        ("maxu", -7),
        ("shl", -56),
        ("shrs", -1),
        ("and", 1),
    ],
)
def test_the_index_dialect_is_arithmetic_on_index(name: str, expected: int) -> None:
    body = f"""
  %a = index.constant -7
  %w = arith.constant 3 : i32
  %b = "index.casts"(%w) : (i32) -> index
  %out = "index.{name}"(%a, %b) : (index, index) -> index"""
    assert compute(body, {}, "index") == expected


@pytest.mark.parametrize("name", DIVISIONS)
def test_a_division_by_zero_is_a_fault(name: str) -> None:
    with pytest.raises(KernelFault, match=f"expected divisors other than zero, at `.*arith.{name}"):
        integers(name, [(1, 2), (3, 0)])


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts(name: str) -> None:
    pairs = [(a, b) for a in I8 for b in range(8)]
    assert integers(name, pairs) == [wrapped(SHIFTS[name](a, b)) for a, b in pairs]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("addi", [0, 1, 1, 0]),
        ("muli", [0, 0, 0, 1]),
        ("subi", [0, 1, 1, 0]),
        ("maxsi", [0, 0, 0, 1]),
        ("maxui", [0, 1, 1, 1]),
    ],
)
def test_one_bit_is_an_integer_of_one_bit(name: str, expected: list[int]) -> None:
    assert integers(name, [(0, 0), (0, 1), (1, 0), (1, 1)], "i1") == [bool(e) for e in expected]


COMPARISONS: list[Any] = [
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: unsigned(a) < unsigned(b),
    lambda a, b: unsigned(a) <= unsigned(b),
    lambda a, b: unsigned(a) > unsigned(b),
    lambda a, b: unsigned(a) >= unsigned(b),
]


@pytest.mark.parametrize("predicate", range(10))
def test_comparisons_of_integers(predicate: int) -> None:
    a, b = zip(*PAIRS, strict=True)
    vector, flags = f"vector<{len(PAIRS)}xi8>", f"vector<{len(PAIRS)}xi1>"
    body = f'%out = "arith.cmpi"(%a, %b) <{{predicate = {predicate} : i64}}> : ({vector}, {vector}) -> {flags}'
    got = compute(body, {"a": (vector, a), "b": (vector, b)}, flags)
    assert got.tolist() == [COMPARISONS[predicate](a, b) for a, b in PAIRS]


@pytest.mark.parametrize(
    ("predicate", "less", "equal", "greater", "unordered"),
    [
        (0, False, False, False, False),
        (1, False, True, False, False),
        (2, False, False, True, False),
        (3, False, True, True, False),
        (4, True, False, False, False),
        (5, True, True, False, False),
        (6, True, False, True, False),
        (7, True, True, True, False),
        (8, False, True, False, True),
        (9, False, False, True, True),
        (10, False, True, True, True),
        (11, True, False, False, True),
        (12, True, True, False, True),
        (13, True, False, True, True),
        (14, False, False, False, True),
        (15, True, True, True, True),
    ],
)
def test_comparisons_of_floats(predicate: int, less: bool, equal: bool, greater: bool, unordered: bool) -> None:
    types = "(vector<4xf32>, vector<4xf32>) -> vector<4xi1>"
    body = (
        f'%out = "arith.cmpf"(%a, %b) <{{predicate = {predicate} : i64, fastmath = #arith.fastmath<none>}}> : {types}'
    )
    values = {"a": ("vector<4xf32>", [1, 2, 3, math.nan]), "b": ("vector<4xf32>", [2, 2, 2, 2])}
    assert compute(body, values, "vector<4xi1>").tolist() == [less, equal, greater, unordered]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("minimumf", [1.0, math.nan, -0.0]),
        ("maximumf", [2.0, math.nan, 0.0]),
        ("minnumf", [1.0, 5.0, None]),
        ("maxnumf", [2.0, 5.0, None]),
    ],
)
def test_least_and_greatest_of_floats(name: str, expected: list[float | None]) -> None:
    types = "(vector<3xf32>, vector<3xf32>) -> vector<3xf32>"
    values = {"a": ("vector<3xf32>", [1, math.nan, 0.0]), "b": ("vector<3xf32>", [2, 5, -0.0])}
    for got, wanted in zip(
        compute(f'%out = "arith.{name}"(%a, %b) : {types}', values, "vector<3xf32>"), expected, strict=True
    ):
        if wanted is not None:  # either zero is a right answer of minnumf
            np.testing.assert_equal(float(got), wanted)
            assert math.isnan(wanted) or np.signbit(got) == np.signbit(wanted)


@pytest.mark.parametrize(
    ("name", "function"), [("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide)]
)
@pytest.mark.parametrize(("type_", "dtype"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
def test_floats_round_once_to_their_type(name: str, function: Any, type_: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((5, 7)).astype(dtype) for _ in range(2))
    vector = f"vector<5x7x{type_}>"
    got = compute(f"%out = arith.{name} %a, %b : {vector}", {"a": (vector, a), "b": (vector, b)}, vector)
    np.testing.assert_array_equal(got, function(a, b))


def test_bf16_rounds_to_nearest_even() -> None:
    one = to_bf16(np.array([1, 1, 1.0078125], np.float32))
    tiny = to_bf16(np.array([2.0**-8, 2.0**-7, 2.0**-8], np.float32))
    vector = "vector<3xbf16>"
    got = compute(f"%out = arith.addf %a, %b : {vector}", {"a": (vector, one), "b": (vector, tiny)}, vector)
    assert from_bf16(got).tolist() == [1.0, 1.0078125, 1.015625]


@given(st.floats(width=64, allow_nan=False))
@example(1 + 2.0**-8 + 2.0**-40)  # float32 would be half way between two of bf16
@example(1 + 3 * 2.0**-8 - 2.0**-40)
@pytest.mark.slow
def test_truncation_to_bf16_is_the_nearest(value: float) -> None:
    """Of the two neighbours in bf16 the nearer, of two as near the even one: found without float32 in between."""
    with np.errstate(over="ignore"):
        got = float(element_of(BFloat16Type()).round(np.asarray(value)))
    magnitudes = (np.arange(0x7F80, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
    place = int(np.searchsorted(magnitudes, abs(value)))
    candidates = [
        (abs(abs(value) - magnitudes[p]), p % 2, magnitudes[p]) for p in (place - 1, place) if 0 <= p < 0x7F80
    ]
    expected = min(candidates)[2]
    if abs(value) >= magnitudes[-1] + 2.0**119:  # half a step beyond the largest number
        expected = math.inf
    assert abs(got) == expected
    assert math.copysign(1, got) == math.copysign(1, value)


def test_tf32_keeps_ten_bits_of_the_mantissa() -> None:
    values = np.array([1 + 2.0**-10, 1 + 2.0**-11, 1 + 3 * 2.0**-11, math.nan], np.float32)
    got = compute("%out = arith.addf %a, %a : vector<4xtf32>", {"a": ("vector<4xtf32>", values)}, "vector<4xtf32>")
    np.testing.assert_array_equal(
        got, np.array([2 + 2.0**-9, 2, 2 + 2.0**-9, math.nan], np.float32)
    )  # memory's other bits unread
    body = "%out = arith.truncf %a : vector<4xf32> to vector<4xtf32>"
    got = compute(body, {"a": ("vector<4xf32>", values)}, "vector<4xtf32>")
    np.testing.assert_array_equal(got, np.array([1 + 2.0**-10, 1, 1 + 2.0**-9, math.nan], np.float32))


CONVERSIONS = [
    ("extsi", "i8", "i32", [-3, 5], [-3, 5]),
    ("extui", "i8", "i32", [-3, 5], [253, 5]),
    ("extsi", "i1", "i32", [True, False], [-1, 0]),
    ("extui", "i1", "i32", [True, False], [1, 0]),
    ("trunci", "i32", "i8", [300, -300], [44, -44]),
    ("trunci", "i32", "i1", [3, 2], [True, False]),
    ("index_cast", "i32", "index", [-1, 7], [-1, 7]),
    ("index_castui", "i32", "index", [-1, 7], [2**32 - 1, 7]),
    ("index_cast", "index", "i8", [257, -1], [1, -1]),
    ("sitofp", "i8", "f32", [-3, 5], [-3.0, 5.0]),
    ("uitofp", "i8", "f32", [-3, 5], [253.0, 5.0]),
    ("sitofp", "i1", "f32", [True, False], [-1.0, 0.0]),
    ("fptosi", "f32", "i8", [-3.9, 3.9], [-3, 3]),
    ("fptosi", "f32", "i8", [1e9, math.nan], [127, 0]),
    ("fptosi", "f64", "i64", [1e300, -math.inf], [2**63 - 1, -(2**63)]),
    ("fptoui", "f32", "i8", [200.5, -1], [-56, 0]),
    ("extf", "f16", "f32", [0.5, 3], [0.5, 3]),
    ("truncf", "f64", "f16", [1 + 2.0**-11 + 2.0**-40, 1e9], [1 + 2.0**-10, math.inf]),
    ("bitcast", "f32", "i32", [1.0, -0.0], [0x3F800000, -(2**31)]),
    ("bitcast", "i16", "bf16", [0x3F80, 0x4000], [0x3F80, 0x4000]),
]


@pytest.mark.parametrize(("name", "source", "result", "values", "expected"), CONVERSIONS)
def test_conversions(name: str, source: str, result: str, values: list[Any], expected: list[Any]) -> None:
    before, after = f"vector<2x{source}>", f"vector<2x{result}>"
    got = compute(f'%out = "arith.{name}"(%a) : ({before}) -> {after}', {"a": (before, values)}, after)
    assert got.tolist() == expected
    for value, wanted in zip(values, expected, strict=True):
        scalar = compute(f'%out = "arith.{name}"(%a) : ({source}) -> {result}', {"a": (source, value)}, result)
        assert scalar.tolist() == wanted


def test_extended_sums_and_products() -> None:
    values = {"a": ("vector<2xi32>", [-1, 5]), "b": ("vector<2xi32>", [2, 6])}
    types = "(vector<2xi32>, vector<2xi32>) -> (vector<2xi32>, vector<2xi32>)"
    carry = (
        '%s, %o = "arith.addui_extended"(%a, %b) : (vector<2xi32>, vector<2xi32>) -> (vector<2xi32>, vector<2xi1>)\n'
    )
    carry += '%out = "arith.extui"(%o) : (vector<2xi1>) -> vector<2xi32>'
    assert compute(carry, values, "vector<2xi32>").tolist() == [1, 0]
    for name, high in (("mulsi_extended", -1), ("mului_extended", 1)):
        got = compute(f'%low, %out = "arith.{name}"(%a, %b) : {types}', values, "vector<2xi32>")
        assert got.tolist() == [high, 0]


def test_select_by_element_and_whole() -> None:
    vector = "vector<3xi32>"
    values = {"m": ("vector<3xi1>", [1, 0, 1]), "a": (vector, [1, 2, 3]), "b": (vector, [4, 5, 6])}
    body = f'%out = "arith.select"(%m, %a, %b) : (vector<3xi1>, {vector}, {vector}) -> {vector}'
    assert compute(body, values, vector).tolist() == [1, 5, 3]
    whole = values | {"m": ("i1", False)}
    assert compute(f"%out = arith.select %m, %a, %b : {vector}", whole, vector).tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("constant", "type_", "expected"),
    [
        ("dense<[1, -2, 3]>", "vector<3xi16>", [1, -2, 3]),
        ("dense<7>", "vector<2x2xi8>", [[7, 7], [7, 7]]),
        ("dense<[true, false]>", "vector<2xi1>", [True, False]),
        ("dense<0.1>", "vector<2xf16>", [np.float16(0.1)] * 2),
        ("-1", "i64", -1),
        ("true", "i1", True),
        ("255", "i8", -1),
    ],
)
def test_constants(constant: str, type_: str, expected: Any) -> None:
    typed = constant if constant == "true" else f"{constant} : {type_}"
    assert compute(f"%out = arith.constant {typed}", {}, type_).tolist() == expected


FUNCTIONS: dict[str, Any] = {
    "absf": abs,
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "cbrt": lambda x: x ** (1 / 3),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "asinh": math.asinh,
    "atanh": math.atanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "roundeven": round,
    "round": lambda x: math.floor(x + 0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    values = np.array([0.125, 0.5, 0.875], np.float32)
    vector = "vector<3xf32>"
    got = compute(f'%out = "math.{name}"(%a) : ({vector}) -> {vector}', {"a": (vector, values)}, vector)
    np.testing.assert_allclose(got, [FUNCTIONS[name](float(v)) for v in values], rtol=1e-6)


def test_halves_round_to_even_or_away_from_zero() -> None:
    values = {"a": ("vector<4xf32>", [0.5, 1.5, -2.5, -0.5])}
    for name, expected in (("roundeven", [0, 2, -2, 0]), ("round", [1, 2, -3, -1])):
        got = compute(f'%out = "math.{name}"(%a) : (vector<4xf32>) -> vector<4xf32>', values, "vector<4xf32>")
        assert got.tolist() == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("powf", [8.0, 0.25]), ("atan2", [math.atan2(2, 3), math.atan2(4, -1)]), ("copysign", [2.0, -4.0])],
)
def test_functions_of_two(name: str, expected: list[float]) -> None:
    values = {"a": ("vector<2xf32>", [2, 4]), "b": ("vector<2xf32>", [3, -1])}
    body = f'%out = "math.{name}"(%a, %b) : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>'
    np.testing.assert_allclose(compute(body, values, "vector<2xf32>"), expected, rtol=1e-6)


def test_powers_of_integers_and_by_integers() -> None:
    values = {"a": ("vector<4xi32>", [3, -2, 7, -1]), "b": ("vector<4xi32>", [4, 3, -1, -3])}
    types = "(vector<4xi32>, vector<4xi32>) -> vector<4xi32>"
    assert compute(f'%out = "math.ipowi"(%a, %b) : {types}', values, "vector<4xi32>").tolist() == [81, -8, 0, -1]
    mixed = {"a": ("vector<2xf32>", [2, 4]), "b": ("vector<2xi32>", [3, -1])}
    body = '%out = "math.fpowi"(%a, %b) : (vector<2xf32>, vector<2xi32>) -> vector<2xf32>'
    assert compute(body, mixed, "vector<2xf32>").tolist() == [8.0, 0.25]


@pytest.mark.parametrize(
    ("name", "expected"), [("absi", [5, 0]), ("ctpop", [7, 0]), ("ctlz", [0, 8]), ("cttz", [0, 8])]
)
def test_bits_of_integers(name: str, expected: list[int]) -> None:
    body = f'%out = "math.{name}"(%a) : (vector<2xi8>) -> vector<2xi8>'
    assert compute(body, {"a": ("vector<2xi8>", [-5, 0])}, "vector<2xi8>").tolist() == expected


def test_a_fused_product_rounds_once() -> None:
    x = 1 + 2.0**-23
    values = {name: ("f32", v) for name, v in (("a", x), ("b", x), ("c", -1 - 2.0**-22))}
    body = '%out = "math.fma"(%a, %b, %c) : (f32, f32, f32) -> f32'
    assert compute(body, values, "f32") == 2.0**-46


def test_types_that_numpy_lacks_are_refused() -> None:
    with pytest.raises(
        InterpretationRefused, match=r"expected elements of i1, i8 to i64, .*, got i4, at `%x = arith.constant"
    ):
        compute("%x = arith.constant 1 : i4\n%out = arith.constant 1 : i8", {}, "i8")
