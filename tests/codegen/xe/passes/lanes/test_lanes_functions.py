"""Element-wise operations of lane code that MLIR or the target lacks."""

from itertools import product

import numpy as np
import pytest
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import parse
from codegen.xe.passes.lanes import lower_to_lanes
from tests.codegen.xe.passes.lanes.lane_kernels import DTYPES, Argument, Array, check, kernel
from tests.few import few

ROWS, COLUMNS = 6, 24


def matrices(body: str, element: str, to: str) -> str:
    """A kernel that makes %r of %a and %b, matrices of `element`."""
    loads = "".join(
        f"""    %{n}d = xegpu.create_nd_tdesc %{n.upper()}
      : memref<6x24x{element}> -> !xegpu.tensor_desc<6x24x{element}>
    %{n} = xegpu.load_nd %{n}d[0, 0] : !xegpu.tensor_desc<6x24x{element}> -> vector<6x24x{element}>
"""
        for n in "ab"
    )
    return kernel(
        f"%A: memref<6x24x{element}>, %B: memref<6x24x{element}>, %R: memref<6x24x{to}>",
        f"""{loads}    {body.replace("{V}", f"vector<6x24x{element}>")}
    %rd = xegpu.create_nd_tdesc %R : memref<6x24x{to}> -> !xegpu.tensor_desc<6x24x{to}>
    xegpu.store_nd %r, %rd[0, 0] : vector<6x24x{to}>, !xegpu.tensor_desc<6x24x{to}>""",
    )


def agree(body: str, element: str, a: Array, b: Array, to: str | None = None, tolerance: float = 0) -> None:
    """Check `body` on two matrices."""
    result = np.zeros((ROWS, COLUMNS), DTYPES[to or element])
    args: list[Argument] = [a.astype(DTYPES[element]), b.astype(DTYPES[element]), result]
    check(matrices(body, element, to or element), args, tolerance)


RNG = np.random.default_rng(3)
FRACTIONS = RNG.uniform(-0.9, 0.9, (ROWS, COLUMNS))


@pytest.mark.parametrize("element", ["f32", *(pytest.param(e, marks=pytest.mark.slow) for e in ("f16", "f64"))])
@pytest.mark.parametrize("name", few(["acosh", "erf", "asinh", "atanh", "cbrt", "erfc"], 5))
def test_functions_that_devices_have(name: str, element: str) -> None:
    values = FRACTIONS + 2 if name == "acosh" else FRACTIONS
    tolerance = {"f16": 2e-3, "f32": 1e-6, "f64": 1e-14}[element]
    agree(f"%r = math.{name} %a : {{V}}", element, values, FRACTIONS, tolerance=tolerance)


def test_a_function_of_a_number() -> None:
    body = """%x = vector.extract %a[2, 17] : f32 from {V}
    %y = math.erf %x : f32
    %r = vector.broadcast %y : f32 to {V}"""
    agree(body, "f32", FRACTIONS, FRACTIONS, tolerance=1e-6)


@pytest.mark.parametrize("element", ["i8", pytest.param("i32", marks=pytest.mark.slow)])
def test_powers_of_integers(element: str) -> None:
    bases, exponents = RNG.integers(-3, 4, (ROWS, COLUMNS)), RNG.integers(-3, 9, (ROWS, COLUMNS))
    exponents[bases == 0] = 2  # there is no reciprocal of 0
    agree("%r = math.ipowi %a, %b : {V}", element, bases, exponents)


@pytest.mark.parametrize(("name", "half"), few(product(["mulsi_extended", "mului_extended"], ["x", "y"]), 3))
@pytest.mark.parametrize("element", ["i8", pytest.param("i32", marks=pytest.mark.slow)])
def test_products_of_twice_the_width(element: str, name: str, half: str) -> None:
    most = 2 ** (int(element[1:]) - 1) - 1
    a, b = RNG.integers(-most, most, (2, ROWS, COLUMNS))
    agree(f"%x, %y = arith.{name} %a, %b : {{V}} %r = arith.addi %{half}, %a : {{V}}", element, a, b)


def test_sums_that_go_over() -> None:
    body = """%x, %y = arith.addui_extended %a, %b : {V}, vector<6x24xi1>
    %r = arith.select %y, %x, %a : vector<6x24xi1>, {V}"""
    most = 2**31 - 1
    a, b = RNG.integers(-most, most, (2, ROWS, COLUMNS))
    agree(body, "i32", a, b)


def test_products_of_which_there_is_no_width() -> None:
    source = matrices("%x, %r = arith.mulsi_extended %a, %b : {V}", "i64", "i64")
    with pytest.raises(PassFailedException, match="expected products of at most 32 bits, got 64"):
        lower_to_lanes(parse(source))
