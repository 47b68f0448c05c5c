"""Values in the simulator: arrays of [sub-groups, lanes] or [sub-groups, lanes, elements].

Either of the first two axes is 1 where the value is the same along it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.simulate.llvm_ir.ir import (
    Operand,
    Type,
)

LANES = 16
Array = NDArray[Any]

# What an undefined value holds: a NaN in every float type, -1 as an int. A number would hide mistakes.
_UNDEFINED_FLOAT = float("nan")
_UNDEFINED_BYTE = 0xFF

# Every float16 as float32, by its bits: looked up in less than half of the time that numpy takes to convert them.
_F16_VALUES = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)


def undefined(type_: Type, shape: tuple[int, int]) -> Array:
    """Return an undefined value."""
    full = (*shape, type_.count) if type_.count else shape
    return np.full(full, _undefined_element(type_), type_.dtype)


def undefined_bytes(shape: tuple[int, ...]) -> Array:
    """Return uninitialized memory."""
    return np.full(shape, _UNDEFINED_BYTE, np.uint8)


def constant(operand: Operand) -> Array:
    """Return the value of a constant operand."""
    type_ = operand.type
    filler = _undefined_element(type_)
    numbers = [filler if c is None else _element(c, type_) for c in operand.constant]
    values = np.array(numbers, type_.dtype)
    return values.reshape((1, 1, type_.count) if type_.count else (1, 1))


def _element(number: float, type_: Type) -> Any:
    if type_.dtype.kind == "f":
        return type_.dtype.type(number)
    if type_.element == "i1":
        return bool(int(number) & 1)
    # Wraps: LLVM prints an i8 of 255 as -1.
    return np.array(int(number) & (2**64 - 1), np.uint64).astype(type_.dtype)[()]


def _undefined_element(type_: Type) -> Any:
    if type_.dtype.kind == "f":
        return _UNDEFINED_FLOAT
    if type_.element == "i1":
        return True
    raw = np.full(type_.dtype.itemsize, _UNDEFINED_BYTE, np.uint8)
    return raw.view(type_.dtype)[0]


def bf16_to_f32(bits: Array) -> Array:
    """Convert bfloat16 bits to float32, exactly."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def f16_to_f32(bits: Array) -> Array:
    """Convert float16 bits to float32, exactly."""
    return _F16_VALUES.take(bits.view(np.uint16))


def f32_to_bf16(values: Array) -> Array:
    """Convert float32 to bfloat16 bits, rounded to nearest, ties to even; NaN stays a NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def f64_to_bf16(values: Array) -> Array:
    """Convert float64 to bfloat16 bits, rounded once: round to odd first, so that the second rounding is exact."""
    wide = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):  # it becomes infinite
        near = wide.astype(np.float32)
    off = wide - near
    is_even = near.view(np.uint32) & np.uint32(1) == 0
    step = np.nextafter(near, np.where(off > 0, np.float32(np.inf), np.float32(-np.inf)).astype(np.float32))
    return f32_to_bf16(np.where((off != 0) & is_even & np.isfinite(off), step, near))


def unsigned(values: Array) -> Array:
    """Return the same bits as unsigned integers; truth values unchanged."""
    return values if values.dtype.kind == "b" else values.view(np.dtype(f"u{values.dtype.itemsize}"))
