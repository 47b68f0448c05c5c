"""Arithmetic on arrays of one element type, as arith defines it."""

from collections.abc import Callable

import numpy as np

from tests.oracle.elements import (
    Array,
    as_signed,
    as_unsigned,
)
from tests.oracle.refusal import KernelFault

Binary = Callable[[Array, Array], Array]


def _signed(function: Binary) -> Binary:
    return lambda a, b: function(as_signed(a), as_signed(b))


def _unsigned(function: Binary) -> Binary:
    return lambda a, b: function(as_unsigned(a), as_unsigned(b))


def _divisor(b: Array) -> Array:
    if np.any(b == 0):
        raise KernelFault("", "expected divisors other than zero")
    return b


def _truncated(a: Array, b: Array) -> Array:
    """The quotient rounded to zero."""
    quotient = a // _divisor(b)
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))


def _ceiling(a: Array, b: Array) -> Array:
    quotient = a // _divisor(b)
    return quotient + (quotient * b != a).astype(a.dtype)


def _left(a: Array, b: Array) -> Array:
    return np.where(b < _width(a), np.left_shift(a, b), np.zeros((), a.dtype))


def _right(a: Array, b: Array) -> Array:
    return np.where(b < _width(a), np.right_shift(a, b), np.zeros((), a.dtype))


def _right_signed(a: Array, b: Array) -> Array:
    amount = np.minimum(as_unsigned(b), _width(a) - 1).astype(a.dtype)
    return np.right_shift(a, amount)


def _width(a: Array) -> int:
    return a.dtype.itemsize * 8


def minimum(a: Array, b: Array) -> Array:
    """The lesser number; NaN if one is; -0 is less than 0."""
    return np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))


def maximum(a: Array, b: Array) -> Array:
    """The greater number; NaN if one is; 0 is greater than -0."""
    return np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))


INTEGER: dict[str, Binary] = {
    "addi": _signed(np.add),
    "subi": _signed(np.subtract),
    "muli": _signed(np.multiply),
    "divsi": _signed(_truncated),
    "divui": _unsigned(lambda a, b: a // _divisor(b)),
    "floordivsi": _signed(lambda a, b: a // _divisor(b)),
    "ceildivsi": _signed(_ceiling),
    "ceildivui": _unsigned(_ceiling),
    "remsi": _signed(lambda a, b: np.fmod(a, _divisor(b))),
    "remui": _unsigned(lambda a, b: a % _divisor(b)),
    "minsi": _signed(np.minimum),
    "maxsi": _signed(np.maximum),
    "minui": _unsigned(np.minimum),
    "maxui": _unsigned(np.maximum),
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "shli": _unsigned(_left),
    "shrui": _unsigned(_right),
    "shrsi": _signed(_right_signed),
}
"""arith's operations on integers by name. A shift by the width or more gives zeros, or copies of the sign."""

FLOAT: dict[str, Binary] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "minimumf": minimum,
    "maximumf": maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}
"""arith's operations on floats by name."""

COMPARE_INTEGERS: tuple[Binary, ...] = (
    np.equal,
    np.not_equal,
    _signed(np.less),
    _signed(np.less_equal),
    _signed(np.greater),
    _signed(np.greater_equal),
    _unsigned(np.less),
    _unsigned(np.less_equal),
    _unsigned(np.greater),
    _unsigned(np.greater_equal),
)
"""The predicates of arith.cmpi, by number."""


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


_ORDERED: tuple[Binary, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda a, b: (a < b) | (a > b),
)


def _or_unordered(compare: Binary) -> Binary:
    return lambda a, b: compare(a, b) | _unordered(a, b)


COMPARE_FLOATS: tuple[Binary, ...] = (
    lambda a, b: np.zeros(a.shape, np.bool_),
    *_ORDERED,
    lambda a, b: ~_unordered(a, b),
    *map(_or_unordered, _ORDERED),
    _unordered,
    lambda a, b: np.ones(a.shape, np.bool_),
)
"""The predicates of arith.cmpf, by number: false, six ordered, ord, six unordered, uno, true."""
