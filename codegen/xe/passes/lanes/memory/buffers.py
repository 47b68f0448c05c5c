"""Memrefs: those in shared local memory become pointers into the kernel's global; others are unchanged."""

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, i8
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.xegpu import MemorySpace
from codegen.xe.dialects.xegpu.verify import space_of
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
)
from codegen.xe.passes.lanes.memory.lane_memory import (
    load,
    pointer_at,
    store,
)
from codegen.xe.passes.lanes.memory.surfaces import extent_of
from codegen.xe.passes.lanes.values import lane_element


def is_local(value: SSAValue) -> bool:
    """True if a memref is in shared local memory."""
    return isinstance(value.type, MemRefType) and space_of(value.type) is MemorySpace.SLM


def _allocate(lowering: Lowering, op: Operation) -> None:
    if is_local(op.results[0]):
        lowering.memory.declare(lowering.emitter, op.results[0])
    else:
        lowering.keep(op)


def _release(lowering: Lowering, op: Operation) -> None:
    if not is_local(op.operands[0]):
        lowering.keep(op)


def _same(lowering: Lowering, op: Operation) -> None:
    if is_local(op.operands[0]):
        lowering.memory.buffers[op.results[0]] = lowering.memory.buffers[op.operands[0]]
    else:
        lowering.keep(op)


def _view(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, memref.ViewOp)
    if not is_local(op.source):
        lowering.keep(op)
        return
    base = lowering.memory.buffers[op.source]
    pointer = pointer_at(lowering.emitter, base, lowering.scalar(op.byte_shift), i8)
    lowering.memory.buffers[op.results[0]] = pointer


def _subview(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, memref.SubviewOp)
    if not is_local(op.source):
        lowering.keep(op)
        return
    dynamic = iter(op.offsets)
    offsets: list[Index] = [
        lowering.scalar(next(dynamic)) if o == DYNAMIC_INDEX else o for o in op.static_offsets.get_values()
    ]
    pointer = _element(lowering, op.source, offsets)
    lowering.memory.buffers[op.results[0]] = pointer


def _element(lowering: Lowering, buffer: SSAValue, at: list[Index]) -> SSAValue:
    """Return the pointer to an element of a buffer in shared local memory."""
    emitter, (_, strides) = lowering.emitter, extent_of(lowering, buffer)
    offset = emitter.sum(*(emitter.product(i, s) for i, s in zip(at, strides, strict=True)))
    element = lane_element(cast("MemRefType[Attribute]", buffer.type).element_type)
    return pointer_at(emitter, lowering.memory.buffers[buffer], offset, element)


def _load(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, memref.LoadOp)
    if not is_local(op.memref):
        lowering.keep(op)
        return
    pointer = _element(lowering, op.memref, [lowering.scalar(i) for i in op.indices])
    lowering.define(op.res, load(lowering.emitter, pointer, element_type(op.res)))


def _store(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, memref.StoreOp)
    if not is_local(op.memref):
        lowering.keep(op)
        return
    pointer = _element(lowering, op.memref, [lowering.scalar(i) for i in op.indices])
    store(lowering.emitter, pointer, lowering.scalar(op.value))


HANDLERS: Mapping[str, Handler] = {
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": _release,
    "memref.cast": _same,
    "memref.view": _view,
    "memref.subview": _subview,
    "memref.load": _load,
    "memref.store": _store,
}
