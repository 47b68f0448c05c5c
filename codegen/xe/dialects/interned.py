"""Types and attributes that many operations share, created once because construction in xDSL is slow."""

from collections.abc import Sequence
from functools import cache, lru_cache

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, IntegerAttr, IntegerType, VectorType, i64
from xdsl.ir import Attribute

_KEPT = 4096  # bounded: offsets and constants of kernels may be any number

index = IndexType()


@cache
def integer_type(bits: int) -> IntegerType:
    """Return the signless integer type of a width in bits."""
    return IntegerType(bits)


@lru_cache(_KEPT)
def vector(element: Attribute, *shape: int) -> VectorType[Attribute]:
    """Return the vector type of a shape."""
    return VectorType(element, shape)


@lru_cache(_KEPT)
def integer(number: int, type_: IntegerType | IndexType) -> IntegerAttr:
    """Return a number as an attribute of a type; excess high bits are dropped."""
    return IntegerAttr(int(number), type_, truncate_bits=True)


def i64_array(numbers: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    """Return an array attribute of 64-bit numbers."""
    return _i64_array(tuple(numbers))


@lru_cache(_KEPT)
def _i64_array(numbers: tuple[int, ...]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([integer(n, i64) for n in numbers])


def dense(type_: IntegerType, numbers: Sequence[int]) -> DenseArrayBase:
    """Return a DenseArrayBase of numbers of a type."""
    return _dense(type_, tuple(numbers))


@lru_cache(_KEPT)
def _dense(type_: IntegerType, numbers: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(type_, numbers)
