"""Element types: how numpy holds them in registers and in memory, and how values round to them."""

from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute

from tests.oracle.refusal import InterpretationRefused

Array = NDArray[Any]
"""Values in registers; a scalar has no dimensions."""


class Kind(StrEnum):
    """Arithmetic of an element. Signless integers are held as signed ones."""

    FLOAT = auto()
    SIGNED = auto()
    UNSIGNED = auto()
    BOOL = auto()


@dataclass(frozen=True, slots=True)
class Element:
    """One element type. bf16 is held as float32 in registers and as its bits in memory; tf32 as float32 in both.

    `dropped` is the number of bits of float32's mantissa that the type lacks.
    """

    kind: Kind
    register: np.dtype[Any]
    memory: np.dtype[Any]
    dropped: int = 0

    @property
    def nbytes(self) -> int:
        """Size of an element in memory, in bytes."""
        return self.memory.itemsize

    def round(self, values: Array) -> Array:
        """Round values to this type: floats to nearest even, once; integers wrap around."""
        return np.asarray(self._rounded(np.asarray(values)))  # numpy makes scalars of what has no dimensions

    def _rounded(self, values: Array) -> Array:
        if self.kind is Kind.BOOL:
            return values if values.dtype == np.bool_ else (values.astype(np.int64) & 1).astype(np.bool_)
        if self.kind is not Kind.FLOAT or not self.dropped:
            return values.astype(self.register)
        exact = values if values.dtype == np.float32 else _round_to_odd(values.astype(np.float64))
        return _drop_bits(exact, self.dropped)

    def unpack(self, stored: Array) -> Array:
        """Convert from memory to registers."""
        if self.memory == np.uint16 and self.kind is Kind.FLOAT:
            return np.asarray((stored.astype(np.uint32) << 16).view(np.float32))
        if self.dropped:  # tf32: nobody looks at the other bits of memory
            kept = np.uint32(0xFFFFFFFF & -(1 << self.dropped))
            return np.asarray((np.ascontiguousarray(stored).view(np.uint32) & kept).view(np.float32)).reshape(
                stored.shape
            )
        return self.round(stored)

    def pack(self, values: Array) -> Array:
        """Convert from registers to memory."""
        if self.memory == np.uint16 and self.kind is Kind.FLOAT:
            return (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16).reshape(values.shape)
        return values.astype(self.memory)


def _round_to_odd(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round to float32 with a sticky last bit, so that a second rounding rounds as once."""
    near = np.atleast_1d(values.astype(np.float32))
    exact = np.atleast_1d(values)
    bits = near.view(np.uint32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(exact)
    lost = ~np.isnan(exact) & (near != exact)
    odd = np.where(lost, (bits - beyond.astype(np.uint32)) | np.uint32(1), bits)
    return odd.astype(np.uint32).view(np.float32).reshape(values.shape)


def _drop_bits(values: NDArray[np.float32], dropped: int) -> NDArray[np.float32]:
    """Round to nearest even to a mantissa that is `dropped` bits shorter."""
    flat = np.ascontiguousarray(np.atleast_1d(values))
    bits = flat.view(np.uint32).astype(np.uint64)
    half = np.uint64((1 << (dropped - 1)) - 1)
    rounded = bits + half + ((bits >> np.uint64(dropped)) & np.uint64(1))
    quiet = bits | np.uint64(1 << 22)
    kept = np.where(np.isnan(flat), quiet, rounded) & np.uint64(0xFFFFFFFF & ~((1 << dropped) - 1))
    return kept.astype(np.uint32).view(np.float32).reshape(values.shape)


def _plain(kind: Kind, dtype: type[np.generic]) -> Element:
    return Element(kind, np.dtype(dtype), np.dtype(dtype))


_FLOATS: dict[type[Attribute], Element] = {
    Float64Type: _plain(Kind.FLOAT, np.float64),
    Float32Type: _plain(Kind.FLOAT, np.float32),
    Float16Type: _plain(Kind.FLOAT, np.float16),
    BFloat16Type: Element(Kind.FLOAT, np.dtype(np.float32), np.dtype(np.uint16), 16),
    FloatTF32Type: Element(Kind.FLOAT, np.dtype(np.float32), np.dtype(np.float32), 13),
}
_SIGNED: dict[int, Element] = {
    8: _plain(Kind.SIGNED, np.int8),
    16: _plain(Kind.SIGNED, np.int16),
    32: _plain(Kind.SIGNED, np.int32),
    64: _plain(Kind.SIGNED, np.int64),
}
_UNSIGNED: dict[int, Element] = {
    8: _plain(Kind.UNSIGNED, np.uint8),
    16: _plain(Kind.UNSIGNED, np.uint16),
    32: _plain(Kind.UNSIGNED, np.uint32),
    64: _plain(Kind.UNSIGNED, np.uint64),
}
BOOL = _plain(Kind.BOOL, np.bool_)
INDEX = _SIGNED[64]


@cache
def element_of(type_: Attribute) -> Element:
    """Return the element of a vector's or a scalar's type.

    Raises:
        InterpretationRefused: numpy cannot hold it.
    """
    if isinstance(type_, VectorType):
        return element_of(type_.element_type)
    if isinstance(type_, IndexType):
        return INDEX
    if isinstance(type_, IntegerType):
        table = _UNSIGNED if type_.signedness.data is Signedness.UNSIGNED else _SIGNED
        found = BOOL if type_.width.data == 1 else table.get(type_.width.data)
    else:
        found = _FLOATS.get(type(type_))
    if found is None:
        raise InterpretationRefused(
            "", f"expected elements of i1, i8 to i64, index, bf16, tf32 or f16 to f64, got {type_}"
        )
    return found


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector's type, or of a scalar's, which is empty."""
    return type_.get_shape() if isinstance(type_, VectorType) else ()


def as_signed(values: Array) -> Array:
    """Return integers as arith's signed operations see them: true is -1."""
    if values.dtype == np.bool_:
        return -values.astype(np.int8)
    return values.view(f"i{values.dtype.itemsize}")


def as_unsigned(values: Array) -> Array:
    """Return integers as arith's unsigned operations see them."""
    if values.dtype == np.bool_:
        return values.astype(np.uint8)
    return values.view(f"u{values.dtype.itemsize}")
