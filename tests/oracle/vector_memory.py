"""The meaning of vector's operations on memory."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.utils.hints import isa

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from tests.oracle.elements import (
    Array,
    element_of,
    shape_of,
)
from tests.oracle.frame import (
    Frame,
    attribute,
)
from tests.oracle.memory import View
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import (
    rule,
    rule_of,
)
from tests.oracle.scatter import (
    read,
    write,
)
from tests.oracle.values import Scattered


@rule_of(vector.LoadOp)
def _load(frame: Frame, op: vector.LoadOp) -> None:
    row = _row(frame, op.base, op.indices, shape_of(op.result.type))
    frame.set(op.result, read(frame, row, _zero(op.result)))


@rule_of(vector.StoreOp)
def _store(frame: Frame, op: vector.StoreOp) -> None:
    write(frame, _row(frame, op.base, op.indices, shape_of(op.vector.type)), frame.array(op.vector))


@rule_of(vector.MaskedLoadOp)
def _masked_load(frame: Frame, op: vector.MaskedLoadOp) -> None:
    mask = frame.array(op.mask)
    row = _row(frame, op.base, op.indices, mask.shape, mask)
    values = read(frame, row, _zero(op.result))
    frame.set(op.result, np.where(mask, values, frame.array(op.pass_thru)))


@rule_of(vector.MaskedStoreOp)
def _masked_store(frame: Frame, op: vector.MaskedStoreOp) -> None:
    mask = frame.array(op.mask)
    write(frame, _row(frame, op.base, op.indices, mask.shape, mask), frame.array(op.value_to_store))


@rule("vector.gather")
def _gather(frame: Frame, op: Operation) -> None:
    mask, otherwise = frame.array(op.operands[-2]), frame.array(op.operands[-1])
    places = _indexed(frame, op.operands[0], op.operands[1:-3], op.operands[-3], mask)
    frame.set(op.results[0], np.where(mask, read(frame, places, _zero(op.results[0])), otherwise))


@rule("vector.scatter")
def _scatter(frame: Frame, op: Operation) -> None:
    mask, values = frame.array(op.operands[-2]), frame.array(op.operands[-1])
    write(frame, _indexed(frame, op.operands[0], op.operands[1:-3], op.operands[-3], mask), values)


def _zero(value: SSAValue) -> Array:
    return np.zeros((), element_of(value.type).register)


def _row(
    frame: Frame, base: SSAValue, indices: Sequence[SSAValue], shape: Ints, mask: Array | None = None
) -> Scattered:
    """Return the elements of a vector along the last dimensions of a memref; unmasked ones must be inside."""
    view = frame.view(base)
    axes: list[int | None] = list(range(len(view.shape) - len(shape), len(view.shape)))
    places, insides = _elements(view, frame.numbers(indices), axes, shape)
    wanted = np.ones(shape, np.bool_) if mask is None else mask
    if any(np.any(wanted & ~inside) for inside in insides):
        raise KernelFault("", f"expected a vector within a memref of {format_ints(view.shape)}, got one outside")
    return Scattered(view.element, places, wanted)


def _indexed(frame: Frame, base: SSAValue, offsets: Sequence[SSAValue], indices: SSAValue, mask: Array) -> Scattered:
    """Return the elements at indices along the last dimension of a memref, from offsets on."""
    view = frame.view(base)
    start = view.buffer.address + view.start
    steps = sum(o * s for o, s in zip(frame.numbers(offsets), view.strides, strict=True))
    places = start + (steps + frame.array(indices).astype(np.int64) * view.strides[-1]) * view.element.nbytes
    return Scattered(view.element, places, mask)


@rule_of(vector.TransferReadOp)
def _transfer_read(frame: Frame, op: vector.TransferReadOp) -> None:
    places = _transfer(frame, op, op.source, op.indices, shape_of(op.result.type), op.mask)
    frame.set(op.result, read(frame, places, frame.array(op.padding)))


@rule_of(vector.TransferWriteOp)
def _transfer_write(frame: Frame, op: vector.TransferWriteOp) -> None:
    values = frame.array(op.vector)
    write(frame, _transfer(frame, op, op.source, op.indices, values.shape, op.mask), values)


def _transfer(
    frame: Frame, op: Operation, base: SSAValue, indices: Sequence[SSAValue], shape: Ints, mask: SSAValue | None
) -> Scattered:
    """Return the elements of a transfer; one outside the memref in a dimension marked in-bounds is a fault."""
    view, map_ = frame.view(base), attribute(op, "permutation_map")
    assert isinstance(map_, AffineMapAttr)
    axes = _axes(map_.data)
    places, insides = _elements(view, frame.numbers(indices), axes, shape)
    promised = _promised(op, axes)
    if any(not inside.all() for axis, inside in enumerate(insides) if promised.get(axis, True)):
        raise KernelFault("", f"expected a transfer within a memref of {format_ints(view.shape)}, got one outside")
    inside = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*insides)), shape)
    if mask is not None:
        inside = inside & _spread(frame.array(mask), axes, shape)
    return Scattered(view.element, places, inside)


def _axes(map_: AffineMap) -> list[int | None]:
    """Return the memref's dimension for each dimension of the vector; None for a broadcast one."""
    if not all(isinstance(r, AffineDimExpr | AffineConstantExpr) for r in map_.results):
        raise InterpretationRefused("", f"expected a permutation_map of dimensions and zeros, got {map_}")
    return [r.position if isinstance(r, AffineDimExpr) else None for r in map_.results]


def _promised(op: Operation, axes: list[int | None]) -> dict[int, bool]:
    """Return the `in_bounds` flag of each dimension of the memref that the transfer runs along."""
    flags = attribute(op, "in_bounds")
    if not isa(flags, ArrayAttr[IntegerAttr]):
        return {axis: False for axis in axes if axis is not None}
    return {a: bool(flag.value.data) for a, flag in zip(axes, flags, strict=True) if a is not None}


def _spread(mask: Array, axes: list[int | None], shape: Ints) -> Array:
    """Return a mask over the used dimensions of the memref, in the dimensions of the vector."""
    used = sorted(a for a in axes if a is not None)
    ordered = mask.transpose([used.index(a) for a in axes if a is not None])
    extents = [n if a is not None else 1 for a, n in zip(axes, shape, strict=True)]
    return np.broadcast_to(ordered.reshape(extents), shape)


def _elements(view: View, start: Ints, axes: list[int | None], shape: Ints) -> tuple[Array, list[Array]]:
    """Return the addresses of a vector's elements, and masks of those inside each dimension of the memref."""
    addresses = np.full(shape, view.buffer.address + view.start, np.int64)
    insides: list[Array] = []
    for axis, (first, extent, stride) in enumerate(zip(start, view.shape, view.strides, strict=True)):
        along = [-1 if a == axis else 1 for a in axes]
        count = shape[axes.index(axis)] if axis in axes else 1
        index = (first + np.arange(count, dtype=np.int64)).reshape(along if along else ())
        addresses += index * (stride * view.element.nbytes)
        insides.append((index >= 0) & (index < extent))
    return addresses, insides
