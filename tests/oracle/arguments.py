"""Arguments of a launch as values: arrays as memory, numbers as registers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IndexType, IntegerType, MemRefType
from xdsl.ir import SSAValue

from codegen.errors import InvalidLaunch
from codegen.xe.dialects.maps import format_ints
from tests.oracle.elements import (
    Array,
    Element,
    element_of,
)
from tests.oracle.frame import element_in
from tests.oracle.memory import (
    Memory,
    View,
    layout_of,
)
from tests.oracle.values import Value

Argument = Array | int | float
_ADDRESS_BITS = (32, 64)


def bind(memory: Memory, argument: SSAValue, given: Argument) -> Value:
    """An argument as the kernel has it. An array for an integer is its address.

    Raises:
        InvalidLaunch: it is not what the kernel takes.
    """
    type_, name = argument.type, argument.name_hint or "argument"
    if isinstance(type_, MemRefType):
        if not isinstance(given, np.ndarray):
            raise InvalidLaunch(f"{name}: expected an array for {type_}, got {given!r}")
        return _view(memory, name, type_, given)
    element = element_of(type_)
    if isinstance(given, np.ndarray):
        if not (isinstance(type_, IndexType) or (isinstance(type_, IntegerType) and type_.width.data in _ADDRESS_BITS)):
            raise InvalidLaunch(f"{name}: expected a number for {type_}, got an array")
        given = memory.add_global(_bytes(name, given)).address
    elif isinstance(given, float) and not isinstance(type_, AnyFloat):
        raise InvalidLaunch(f"{name}: expected a number for {type_}, got {given!r}")
    return element.round(np.asarray(given))


def _view(memory: Memory, name: str, type_: MemRefType[Any], array: Array) -> View:
    element, shape = element_in(type_), type_.get_shape()
    _check_type(name, element, array)
    if len(shape) != array.ndim or any(s not in (DYNAMIC_INDEX, n) for s, n in zip(shape, array.shape, strict=True)):
        raise InvalidLaunch(f"{name}: expected an array of the shape of {type_}, got {format_ints(array.shape)}")
    strides = tuple(s // array.itemsize for s in array.strides)
    said, offset = layout_of(type_, array.shape)
    differs = said is not None and any(n > 1 and a != b for n, a, b in zip(array.shape, said, strides, strict=True))
    if differs or offset:
        raise InvalidLaunch(
            f"{name}: expected an array that lies as {type_} says from its first element on, "
            f"got strides {format_ints(strides)}"
        )
    return View(memory.add_global(_bytes(name, array)), element, 0, array.shape, said or strides)


def _check_type(name: str, element: Element, array: Array) -> None:
    kinds = {"f": "f", "i": "iu", "u": "iu", "b": "biu"}[element.memory.kind]
    if array.itemsize != element.nbytes or array.dtype.kind not in kinds:
        raise InvalidLaunch(f"{name}: expected an array of {element.memory}, got {array.dtype}")


def _bytes(name: str, array: Array) -> NDArray[np.uint8]:
    """The memory of an array from its first element to its last."""
    if any(stride < 0 for stride in array.strides):
        raise InvalidLaunch(f"{name}: expected an array with strides of at least 0, got {array.strides}")
    span = 1 + sum((n - 1) * (s // array.itemsize) for n, s in zip(array.shape, array.strides, strict=True))
    flat = np.lib.stride_tricks.as_strided(array, (span if array.size else 0,), (array.itemsize,))
    return flat.view(np.uint8)
