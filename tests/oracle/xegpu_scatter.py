"""The meaning of XeGPU's operations on scattered elements."""

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from codegen.xe.dialects import xegpu
from codegen.xe.dialects.xegpu import TensorDescType
from codegen.xe.subgroup import subgroup_size
from tests.oracle.atomic import exchange
from tests.oracle.elements import (
    Array,
    Element,
    element_of,
    shape_of,
)
from tests.oracle.frame import Frame
from tests.oracle.registry import rule_of
from tests.oracle.scatter import (
    chunks,
    elements_at,
    read,
    write,
)
from tests.oracle.values import Scattered
from tests.oracle.xegpu_block import fitted


@rule_of(xegpu.CreateTdescOp)
def _create(frame: Frame, op: xegpu.CreateTdescOp) -> None:
    type_ = op.result.type
    offsets = frame.array(op.offsets) if op.offsets is not None else np.asarray(frame.numbers(op.offset_list))
    base, offsets = frame.values[op.source], _own(frame, offsets)
    frame.set(op.result, elements_at(base, offsets, element_of(type_.element_type), checked=False))


def _own(frame: Frame, values: Array) -> Array:
    """Return the work-item's own element of values that hold one per work-item."""
    return values[frame.lane : frame.lane + 1] if frame.lane is not None and values.size == subgroup_size() else values


@rule_of(xegpu.UpdateOffsetOp)
def _update_offset(frame: Frame, op: xegpu.UpdateOffsetOp) -> None:
    frame.set(op.result, frame.get(op.desc, Scattered).moved(_own(frame, frame.array(op.offsets)).astype(np.int64)))


@rule_of(xegpu.LoadOp)
def _load(frame: Frame, op: xegpu.LoadOp) -> None:
    """Load elements; masked ones are zero."""
    element = element_of(op.result.type)
    places = _places(frame, op, op.source, element)
    values = read(frame, places, np.zeros((), element.register))
    shape = shape_of(op.result.type)
    if op.transpose is not None and values.ndim == 2 and frame.lane is None:
        values = values.T
    frame.set(op.result, fitted(values, shape))


@rule_of(xegpu.StoreOp)
def _store(frame: Frame, op: xegpu.StoreOp) -> None:
    places, values = _places(frame, op, op.dest, element_of(op.value.type)), frame.array(op.value)
    if op.transpose is not None and values.ndim == 2 and frame.lane is None:
        values = values.T
    write(frame, places, fitted(values, places.addresses.shape))


def _places(frame: Frame, op: xegpu.LoadOp | xegpu.StoreOp, target: SSAValue, element: Element) -> Scattered:
    """Return the elements of an access under its mask; those of a chunk are in the last dimension."""
    mask: Array = _own(frame, frame.array(op.mask))
    if isinstance(target.type, TensorDescType):
        scatter = target.type.scatter
        scattered, size = frame.get(target, Scattered), 1 if scatter is None else scatter.chunk_size
    else:
        assert op.offsets is not None, "its verifier asks for offsets from a base"
        scattered = elements_at(frame.values[target], frame.array(op.offsets), element, checked=False)
        size = 1 if op.chunk_size is None else op.chunk_size.value.data
    scattered = scattered.masked(mask)
    if frame.lane is not None:  # all that a work-item has is at one offset
        size = prod(shape_of((op.result if isinstance(op, xegpu.LoadOp) else op.value).type))
    return scattered if size == 1 else chunks(scattered, size)


@rule_of(xegpu.PrefetchOp)
def _prefetch(frame: Frame, op: xegpu.PrefetchOp) -> None:
    """No effect on values."""


@rule_of(xegpu.AtomicRmwOp)
def _atomic_rmw(frame: Frame, op: xegpu.AtomicRmwOp) -> None:
    target, values, mask = frame.get(op.tensor_desc, Scattered), frame.array(op.value), frame.array(op.mask)
    mask = _own(frame, mask)
    if target.addresses.ndim < values.ndim:
        target, mask = chunks(target, values.shape[-1]), np.broadcast_to(mask[..., None], values.shape)
    frame.set(op.result, exchange(frame, op.kind.data, target, values, mask))
