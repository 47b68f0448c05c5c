"""Types and attributes that many operations of a kernel share, made once: xDSL takes its time to make one."""

from collections.abc import Sequence
from functools import cache, lru_cache

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, IntegerAttr, IntegerType, VectorType, i64
from xdsl.ir import Attribute

_KEPT = 4096  # offsets and constants of kernels are any numbers

index = IndexType()


@cache
def integer_type(bits: int) -> IntegerType:
    """The integer of so many bits, without a sign."""
    return IntegerType(bits)


@lru_cache(_KEPT)
def vector(element: Attribute, *shape: int) -> VectorType[Attribute]:
    """The vector of a shape."""
    return VectorType(element, shape)


@lru_cache(_KEPT)
def integer(number: int, type_: IntegerType | IndexType) -> IntegerAttr:
    """A number of a type; bits that it has no room for are dropped."""
    return IntegerAttr(int(number), type_, truncate_bits=True)


def i64_array(numbers: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    """An array of 64-bit numbers."""
    return _i64_array(tuple(numbers))


@lru_cache(_KEPT)
def _i64_array(numbers: tuple[int, ...]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([integer(n, i64) for n in numbers])


def dense(type_: IntegerType, numbers: Sequence[int]) -> DenseArrayBase:
    """An array of numbers of a type in the form of a property."""
    return _dense(type_, tuple(numbers))


@lru_cache(_KEPT)
def _dense(type_: IntegerType, numbers: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(type_, numbers)
