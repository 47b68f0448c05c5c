"""Memory that a kernel allocates: shared local memory once a work-group, any other where it is allocated."""

from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.maps import Ints
from tests.oracle.frame import (
    Frame,
    element_in,
)
from tests.oracle.memory import (
    Buffer,
    View,
    fresh,
    is_local,
    layout_of,
    row_major,
    span_of,
)


def allocate(frame: Frame, key: Operation | SSAValue, type_: MemRefType[Any], shape: Ints) -> View:
    """The memref that `key` allocates; in shared local memory each sub-group gets the same."""
    element, strides = element_in(type_), layout_of(type_, shape)[0] or row_major(shape)
    nbytes = span_of(shape, strides) * element.nbytes
    buffer = _local(frame, key, nbytes) if is_local(type_) else frame.group.memory.add_global(fresh(nbytes))
    return View(buffer, element, 0, shape, strides)


def _local(frame: Frame, key: Operation | SSAValue, nbytes: int) -> Buffer:
    local = frame.group.local
    if key not in local:
        local[key] = frame.group.memory.add_local(nbytes)
    return local[key]
