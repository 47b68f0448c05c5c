"""Types and attributes that many operations share, created once because construction in xDSL is slow."""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    VectorType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

_KEPT = 4096  # bounded: offsets and constants of kernels may be any number
_KEPT_SPLATS = 32  # with all their elements: those of a work-group's tile are hundreds of KiB

_Element = TypeVar("_Element", bound=Attribute)

index = IndexType()
_NONE = NoneAttr()


@cache
def integer_type(bits: int) -> IntegerType:
    """Return the signless integer type of a width in bits."""
    return next((known for known in (i1, i8, i16, i32, i64) if known.width.data == bits), IntegerType(bits))


def vector(element: _Element, *shape: int) -> VectorType[_Element]:
    """Return the vector type of a shape."""
    key = id(element), shape
    known = _VECTORS.get(key)
    made = _kept(_VECTORS, key, element, _vector(element, shape)) if known is None else known
    return cast("VectorType[_Element]", made)


@lru_cache(_KEPT)
def _vector(element: Attribute, shape: tuple[int, ...]) -> VectorType[Attribute]:
    return VectorType(element, shape)


def memref(
    element: _Element, shape: Sequence[int], layout: MemRefLayoutAttr | NoneAttr = _NONE, space: Attribute = _NONE
) -> MemRefType[_Element]:
    """Return the memref type of a shape; unlike its constructor, this does not look for attributes in the shape."""
    made = MemRefType.new((ArrayAttr(map(IntAttr, shape)), element, layout, space))
    return cast("MemRefType[_Element]", made)


def integer(number: int, type_: IntegerType | IndexType) -> IntegerAttr:
    """Return a number as an attribute of a type; excess high bits are dropped."""
    key = id(type_), number
    known = _INTEGERS.get(key)
    return _kept(_INTEGERS, key, type_, _integer(int(number), type_)) if known is None else known


@lru_cache(_KEPT)
def _integer(number: int, type_: IntegerType | IndexType) -> IntegerAttr:
    return IntegerAttr(number, type_, truncate_bits=True)


@lru_cache(_KEPT)
def symbol_reference(name: str) -> SymbolRefAttr:
    """Return a reference to a symbol of the module."""
    return SymbolRefAttr(name)


def i64_array(numbers: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    """Return an array attribute of 64-bit numbers."""
    return _i64_array(tuple(numbers))


@lru_cache(_KEPT)
def _i64_array(numbers: tuple[int, ...]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([integer(n, i64) for n in numbers])


def dense(type_: IntegerType, numbers: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """Return a DenseArrayBase of numbers of a type."""
    values = tuple(numbers)
    key = id(type_), values
    known = _ARRAYS.get(key)
    return _kept(_ARRAYS, key, type_, _dense(type_, values)) if known is None else known


@lru_cache(_KEPT_SPLATS)
def splat(type_: VectorType[Any], element: bytes) -> DenseIntOrFPElementsAttr:
    """Return the constant of a type whose elements all have the bytes of one."""
    return DenseIntOrFPElementsAttr(type_, BytesAttr(element * prod(type_.get_shape())))


def numbers(array: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Return the numbers of an array, which xDSL unpacks from bytes."""
    known = _NUMBERS.get(id(array))
    if known is None:
        if len(_NUMBERS) >= _KEPT:
            _NUMBERS.clear()
        known = _NUMBERS[id(array)] = array, tuple(array.get_values())  # kept, so that its id is not reused
    return known[1]


@lru_cache(_KEPT)
def _dense(type_: IntegerType, numbers: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(type_, numbers)


_Made = TypeVar("_Made", bound=Attribute)
_Key = tuple[int, object]

# By the id of the type, whose hash xDSL computes from all of its parts; behind them are the caches by value.
_VECTORS: dict[_Key, VectorType[Attribute]] = {}
_INTEGERS: dict[_Key, IntegerAttr] = {}
_ARRAYS: dict[_Key, DenseArrayBase[IntegerType]] = {}
_TYPES: dict[int, Attribute] = {}
_NUMBERS: dict[int, tuple[DenseArrayBase[IntegerType], tuple[int, ...]]] = {}


def _kept(cache_: dict[_Key, _Made], key: _Key, type_: Attribute, made: _Made) -> _Made:
    """Put an attribute into a cache by the id of a type, which is kept so that its id is not reused."""
    if len(_TYPES) >= _KEPT or len(cache_) >= _KEPT:
        for full in (_VECTORS, _INTEGERS, _ARRAYS, _TYPES):
            full.clear()
    _TYPES[key[0]] = type_
    cache_[key] = made
    return made
