"""Kernel arguments on the command line: .npy files and numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from codegen import InvalidLaunch
from codegen.artifact.signature import KernelArgument
from codegen.simulate.run_module import (
    Array,
    dtype_of,
)

_BF16 = "bf16"
_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"  # what files of numpy.save and numpy.savez begin with


def load_array(argument: KernelArgument, path: Path) -> Array:
    """Return the array of a file, converted to the type and strides of the argument.

    bf16 is converted from float32, rounded to nearest even.

    Raises:
        InvalidLaunch: not an array file, or an array of another type.
    """
    try:
        with path.open("rb") as file:
            first = file.read(len(_MAGIC))
        if not first.startswith((_MAGIC, _ARCHIVE)):
            raise InvalidLaunch(f"--in {argument.name}: expected a file of numpy.save, got {first!r} first in {path}")
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InvalidLaunch(f"--in {argument.name}: expected an array in {path}: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise InvalidLaunch(f"--in {argument.name}: expected an array in {path}: {error}") from error
    if not isinstance(array, np.ndarray):
        raise InvalidLaunch(f"--in {argument.name}: expected one array in {path}, got an archive of several")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if argument.shape is not None and array.ndim != len(argument.shape):
        raise InvalidLaunch(
            f"--in {argument.name}: expected an array of {len(argument.shape)} dimensions, got {array.ndim} in {path}"
        )
    if argument.element == _BF16 and array.dtype == np.float32 and not argument.is_scalar:
        return _laid_out(argument, _rounded_to_bf16(array))
    dtype = np.dtype(np.uint8 if argument.is_scalar else dtype_of(argument.element))
    if argument.is_scalar:  # an address: any memory
        return array.copy(order="C")
    if array.dtype.itemsize != dtype.itemsize or array.dtype.kind != dtype.kind:
        wanted = "float32 (rounded) or uint16 (bits)" if argument.element == _BF16 else str(dtype)
        raise InvalidLaunch(
            f"--in {argument.name}: expected {wanted} for {argument.element}, got {array.dtype} in {path}"
        )
    return _laid_out(argument, array)


def output_array(argument: KernelArgument) -> Array:
    """Return zeros of the argument's shape and strides.

    Raises:
        InvalidLaunch: it is a number, or its shape is not static.
    """
    if argument.shape is None:
        raise InvalidLaunch(f"--out {argument.name}: expected an argument in memory, got a {argument.element}")
    shape = [extent for extent in argument.shape if extent is not None]
    strides = [stride for stride in argument.strides or () if stride is not None]
    if len(shape) != len(argument.shape) or len(strides) != len(shape):
        raise InvalidLaunch(
            f"--out {argument.name}: its shape is not static: "
            f"give --in {argument.name}=FILE.npy with an array of that shape"
        )
    dtype = np.dtype(dtype_of(argument.element))
    return _zeros(shape, strides, dtype)


def scalar(argument: KernelArgument, text: str) -> int | float:
    """Parse a number.

    Raises:
        InvalidLaunch: not a number of the argument's type, or the argument is memory.
    """
    if not argument.is_scalar:
        raise InvalidLaunch(f"--arg {argument.name}: it is memory: give --in {argument.name}=FILE.npy")
    floating = argument.element.startswith(("f", "bf"))
    try:
        return float(text) if floating else int(text, 0)
    except ValueError:
        raise InvalidLaunch(
            f"--arg {argument.name}: expected a number of type {argument.element}, got {text!r}"
        ) from None


def saved(argument: KernelArgument, array: Array) -> Array:
    """Return the array as it is saved: bf16 as float32, which is exact."""
    if argument.element != _BF16:
        return array.copy(order="C")
    return (array.astype(np.uint32, order="C") << 16).view(np.float32)


def _laid_out(argument: KernelArgument, array: Array) -> Array:
    """Return a copy with the strides of an argument; row-major if the launch states them, or if elements
    would overlap.
    """
    strides = [stride for stride in argument.strides or () if stride is not None]
    if len(strides) != array.ndim or _overlap(array.shape, strides):
        return array.copy(order="C")
    laid = _zeros(array.shape, strides, array.dtype)
    laid[...] = array
    return laid


def _zeros(shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[np.generic]) -> Array:
    """Return zeros of a shape with strides in elements."""
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    steps = [stride * dtype.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(np.zeros(span, dtype), shape, steps)


def _overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    reach = 1
    for stride, extent in sorted(zip(strides, shape, strict=True)):
        if extent == 0 or (extent > 1 and stride < reach):
            return True
        reach += (extent - 1) * stride
    return False


def _rounded_to_bf16(array: Array) -> Array:
    bits = array.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), (bits >> 16) | 0x40, rounded).astype(np.uint16)
