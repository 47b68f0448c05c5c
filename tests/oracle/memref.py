"""The meaning of memref's operations."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnitAttr, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser

from codegen.xe.dialects import context
from codegen.xe.dialects.kinds import AtomicKind
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.upstream.memref_ops import TransposeOp
from tests.oracle.allocate import allocate
from tests.oracle.arith import constant
from tests.oracle.atomic import exchange
from tests.oracle.frame import (
    Frame,
    attribute,
    element_in,
)
from tests.oracle.memory import (
    View,
    row_major,
    span_of,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import (
    rule,
    rule_of,
)
from tests.oracle.values import Scattered


def _type(value: SSAValue) -> MemRefType[Any]:
    assert isinstance(value.type, MemRefType)
    return value.type


def _mixed(frame: Frame, static: Ints, dynamic: list[SSAValue] | tuple[SSAValue, ...]) -> Ints:
    """A list that marks where values stand."""
    values = iter(dynamic)
    return tuple(frame.number(next(values)) if s == DYNAMIC_INDEX else s for s in static)


@rule("memref.alloc", "memref.alloca")
def _allocate(frame: Frame, op: Operation) -> None:
    assert isinstance(op, memref.AllocOp | memref.AllocaOp)
    type_ = _type(op.memref)
    frame.set(op.memref, allocate(frame, op, type_, _mixed(frame, type_.get_shape(), op.dynamic_sizes)))


@rule("memref.dealloc", "memref.prefetch")
def _nothing(frame: Frame, op: Operation) -> None:
    """No effect on values."""


@rule_of(memref.GetGlobalOp)
def _global(frame: Frame, op: memref.GetGlobalOp) -> None:
    name = op.name_.string_value()
    declared, type_ = frame.group.symbols.get(name), _type(op.memref)
    if declared is None:
        raise InterpretationRefused("", f"expected a memref.global named {name}, got none")
    view = allocate(frame, declared, type_, type_.get_shape())
    value = attribute(declared, "initial_value")
    if value is not None and not isinstance(value, UnitAttr):
        dense = Parser(context(), str(value)).parse_attribute()  # the dialect keeps it as text
        view.store(constant(dense, VectorType(type_.element_type, view.shape)))
    frame.set(op.memref, view)


@rule_of(memref.LoadOp)
def _load(frame: Frame, op: memref.LoadOp) -> None:
    view = frame.view(op.memref)
    frame.set(op.res, view.buffer.read(view.element, view.place(frame.numbers(op.indices))))


@rule_of(memref.StoreOp)
def _store(frame: Frame, op: memref.StoreOp) -> None:
    view = frame.view(op.memref)
    view.buffer.write(view.element, view.place(frame.numbers(op.indices)), frame.array(op.value))


@rule_of(memref.AtomicRMWOp)
def _atomic(frame: Frame, op: memref.AtomicRMWOp) -> None:
    """One update by each work-item that this frame stands for; if there are several, each has another result."""
    view, kind = frame.view(op.memref), list(AtomicKind)[op.kind.value.data]
    address = view.place(frame.numbers(op.indices)) + view.buffer.address
    target = Scattered(view.element, np.asarray(address), np.asarray(True))
    if frame.work_items > 1 and op.result.uses:
        raise InterpretationRefused("", f"expected no use of the results of {frame.work_items} work-items")
    for _ in range(frame.work_items):
        frame.set(op.result, exchange(frame, kind, target, frame.array(op.value)))


@rule_of(memref.CopyOp)
def _copy(frame: Frame, op: memref.CopyOp) -> None:
    frame.view(op.destination).store(frame.view(op.source).load())


@rule_of(memref.DimOp)
def _dim(frame: Frame, op: memref.DimOp) -> None:
    shape, axis = frame.view(op.source).shape, frame.number(op.index)
    if not 0 <= axis < len(shape):
        raise KernelFault("", f"expected a dimension below {len(shape)}, got {axis}")
    frame.set(op.result, np.asarray(shape[axis], np.int64))


@rule_of(memref.RankOp)
def _rank(frame: Frame, op: memref.RankOp) -> None:
    frame.set(op.rank, np.asarray(len(frame.view(op.source).shape), np.int64))


@rule("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _same(frame: Frame, op: Operation) -> None:
    view, shape = frame.view(op.operands[0]), _type(op.results[0]).get_shape()
    if len(shape) == len(view.shape) and all(s in (DYNAMIC_INDEX, n) for s, n in zip(shape, view.shape, strict=True)):
        frame.set(op.results[0], view)
        return
    # The RFC also casts memref<4096xf32> to memref<1x4096xf32> and memref<4096x1xf32>.
    kept = [n for n in shape if n != 1]
    if DYNAMIC_INDEX in shape or kept != [n for n in view.shape if n != 1]:
        raise KernelFault("", f"expected a cast to the shape {view.shape}, got {shape}")
    strides = iter([s for n, s in zip(view.shape, view.strides, strict=True) if n != 1])
    inner = row_major(shape)
    frame.set(
        op.results[0],
        replace(
            view, shape=shape, strides=tuple(next(strides) if n != 1 else d for n, d in zip(shape, inner, strict=True))
        ),
    )


@rule_of(memref.SubviewOp)
def _subview(frame: Frame, op: memref.SubviewOp) -> None:
    view = frame.view(op.source)
    offsets = _mixed(frame, op.static_offsets.get_values(), op.offsets)
    sizes = _mixed(frame, op.static_sizes.get_values(), op.sizes)
    steps = _mixed(frame, op.static_strides.get_values(), op.strides)
    start = view.start + view.element.nbytes * sum(o * s for o, s in zip(offsets, view.strides, strict=True))
    strides = tuple(a * b for a, b in zip(view.strides, steps, strict=True))
    kept = _kept_axes(op.static_sizes.get_values(), _type(op.result).get_shape())
    frame.set(
        op.result,
        replace(view, start=start, shape=tuple(sizes[a] for a in kept), strides=tuple(strides[a] for a in kept)),
    )


def _kept_axes(sizes: Ints, shape: Ints) -> Ints:
    """The dimensions of a subview that its result has; it may lack some of extent 1."""
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        if len(kept) < len(shape) and shape[len(kept)] == size:
            kept.append(axis)
    if len(kept) != len(shape):
        raise KernelFault("", f"expected a subview of the shape {format_ints(shape)}, got sizes {format_ints(sizes)}")
    return tuple(kept)


@rule_of(memref.ReinterpretCastOp)
def _reinterpret(frame: Frame, op: memref.ReinterpretCastOp) -> None:
    view = frame.view(op.source)
    (offset,) = _mixed(frame, op.static_offsets.get_values(), op.offsets)
    sizes = _mixed(frame, op.static_sizes.get_values(), op.sizes)
    strides = _mixed(frame, op.static_strides.get_values(), op.strides)
    start = view.base + offset * view.element.nbytes
    frame.set(op.result, replace(view, start=start, shape=sizes, strides=strides))


@rule_of(memref.ViewOp)
def _view(frame: Frame, op: memref.ViewOp) -> None:
    view, type_ = frame.view(op.source), _type(op.result)
    base, shape = view.start + frame.number(op.byte_shift), _mixed(frame, type_.get_shape(), op.sizes)
    element = element_in(type_)
    if span_of(shape, row_major(shape)) * element.nbytes > view.span - frame.number(op.byte_shift):
        raise KernelFault("", f"expected a view within {view.span} bytes, got one of {format_ints(shape)} at {base}")
    frame.set(op.result, View(view.buffer, element, base, shape, row_major(shape), base))


@rule_of(memref.ExtractAlignedPointerAsIndexOp)
def _pointer(frame: Frame, op: memref.ExtractAlignedPointerAsIndexOp) -> None:
    view = frame.view(op.source)
    frame.set(op.aligned_pointer, np.asarray(view.buffer.address + view.base, np.int64))


@rule_of(memref.ExtractStridedMetaDataOp)
def _metadata(frame: Frame, op: memref.ExtractStridedMetaDataOp) -> None:
    view = frame.view(op.source)
    offset = (view.start - view.base) // view.element.nbytes
    frame.set(op.base_buffer, replace(view, start=view.base, shape=(), strides=()))
    numbers = (offset, *view.shape, *view.strides)
    for result, number in zip((op.offset, *op.sizes, *op.strides), numbers, strict=True):
        frame.set(result, np.asarray(number, np.int64))


@rule_of(TransposeOp)
def _transpose(frame: Frame, op: TransposeOp) -> None:
    view = frame.view(op.source)
    shape, strides = (tuple(values[d] for d in op.dims) for values in (view.shape, view.strides))
    frame.set(op.result, replace(view, shape=shape, strides=strides))


@rule_of(memref.CollapseShapeOp)
def _collapse(frame: Frame, op: memref.CollapseShapeOp) -> None:
    """A group of dimensions as one: its inner stride."""
    view = frame.view(op.src)
    groups = [[axis.value.data for axis in group] for group in op.reassociation]
    shape = tuple(prod(view.shape[a] for a in group) for group in groups)
    strides = tuple(min((view.strides[a] for a in group if view.shape[a] > 1), default=1) for group in groups)
    collapsed = replace(view, shape=shape, strides=strides)
    if not np.array_equal(collapsed.places().reshape(-1), view.places().reshape(-1)):
        raise KernelFault("", f"expected dimensions that lie contiguously, got strides {format_ints(view.strides)}")
    frame.set(op.result, collapsed)


@rule_of(memref.ExpandShapeOp)
def _expand(frame: Frame, op: memref.ExpandShapeOp) -> None:
    view = frame.view(op.src)
    shape = _mixed(frame, op.static_output_shape.get_values(), op.output_shape)
    strides = [0] * len(shape)
    for group, stride in zip(op.reassociation, view.strides, strict=True):
        for axis in reversed([a.value.data for a in group]):
            strides[axis] = stride
            stride *= shape[axis]
    frame.set(op.result, replace(view, shape=shape, strides=tuple(strides)))
