"""Atomic updates: each lane updates its own elements one by one."""

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IntegerType, i1, i64
from xdsl.dialects.llvm import ExtractValueOp, LLVMStructType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.kinds import AtomicKind
from codegen.xe.dialects.upstream.llvm_ops import (
    AtomicBinOp,
    AtomicCmpXchgOp,
    AtomicRmwOp,
)
from codegen.xe.dialects.upstream.memref_ops import AtomicRmwOp as MemrefAtomicRmwOp
from codegen.xe.dialects.xegpu import AtomicRmwOp as XeGPUAtomicRmwOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.memory.lane_memory import (
    Guarded,
    load,
    pointer_at,
)
from codegen.xe.passes.lanes.memory.scattered import (
    owners_of,
    runs_of,
    target_of,
)
from codegen.xe.passes.lanes.memory.surfaces import (
    extent_of,
    pointer_of,
)
from codegen.xe.passes.lanes.values import (
    Lanes,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.fragments import own
from codegen.xe.passes.lanes.vectors.layout import (
    NOTHING,
    LaneLayout,
    canonical,
)

_NATIVE = {
    AtomicKind.ADDF: AtomicBinOp.FADD,
    AtomicKind.ADDI: AtomicBinOp.ADD,
    AtomicKind.ASSIGN: AtomicBinOp.XCHG,
    AtomicKind.MAXS: AtomicBinOp.MAX,
    AtomicKind.MAXU: AtomicBinOp.UMAX,
    AtomicKind.MINS: AtomicBinOp.MIN,
    AtomicKind.MINU: AtomicBinOp.UMIN,
    AtomicKind.ORI: AtomicBinOp.OR,
    AtomicKind.ANDI: AtomicBinOp.AND,
    AtomicKind.XORI: AtomicBinOp.XOR,
}
"""Kinds with a single instruction; the others are compare-exchange loops."""

_Combine = Callable[[SSAValue, SSAValue], Operation]

_BY_RETRY: Mapping[AtomicKind, _Combine] = {
    AtomicKind.MULF: arith.MulfOp,
    AtomicKind.MULI: arith.MuliOp,
    AtomicKind.MAXIMUMF: arith.MaximumfOp,
    AtomicKind.MINIMUMF: arith.MinimumfOp,
    AtomicKind.MAXNUMF: arith.MaxnumfOp,
    AtomicKind.MINNUMF: arith.MinnumfOp,
}


def _atomic_rmw(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, XeGPUAtomicRmwOp)
    emitter, shape, element = lowering.emitter, shape_of(op.value), element_type(op.value)
    _check_width(element)
    target = target_of(lowering, op.tensor_desc, None, op.mask, shape)
    layout = own(shape) if lowering.work_items else canonical(shape)
    registers, owned = lowering.vector(op.value, layout).registers(), owners_of(lowering, layout)
    is_used, old = op.result.first_use is not None, list[SSAValue]()
    for run in runs_of(lowering, target, layout, single=True):
        conditions = [] if run.mask is None else [run.mask]
        if not owned[run.first].all():
            conditions.append(emitter.lanes(owned[run.first].tolist()))
        value = emitter.register(registers[run.first])
        with Guarded(emitter, conditions) as guarded:
            pointer = pointer_at(emitter, target.pointer, run.offset, element)
            updated = _update(emitter, op.kind.data, pointer, value)
            if is_used:
                guarded.give(updated)
        old += guarded.results
    if not is_used:
        return
    held = LaneLayout(np.where(owned, layout.places, NOTHING), (1,) * len(old))
    lowering.finish(op.result, Lanes(vector_type(op.result), held, tuple(old)))


def _check_width(element: Attribute) -> None:
    if bits_of(element) not in (32, 64):
        wide = "f32" if isinstance(element, AnyFloat) else "i32"
        raise PassFailedException(
            f"lower-to-lanes: expected atomic updates of elements of 32 or 64 bits, got {element}: "
            f"update a matrix of {wide}, and convert it afterwards"
        )


def _memref_atomic_rmw(lowering: Lowering, op: Operation) -> None:
    """Update one element by each work-item."""
    assert isinstance(op, MemrefAtomicRmwOp)
    emitter, element = lowering.emitter, element_type(op.value)
    _check_width(element)
    _, strides = extent_of(lowering, op.memref)
    products = map(emitter.product, lowering.indices(op.indices), strides)
    pointer = pointer_at(emitter, pointer_of(lowering, op.memref), emitter.sum(*products), element)
    lowering.define(op.result, _update(emitter, op.update, pointer, lowering.scalar(op.value)))


def _update(emitter: Emitter, kind: AtomicKind, pointer: SSAValue, value: SSAValue) -> SSAValue:
    """Update memory with a scalar; return the old value."""
    native = _NATIVE.get(kind)
    if native is None:
        return _retry(emitter, _BY_RETRY[kind], pointer, value)
    if native is AtomicBinOp.XCHG and isinstance(value.type, AnyFloat):
        bits = IntegerType(bits_of(value.type))
        old = emitter.value(AtomicRmwOp(native, pointer, emitter.value(arith.BitcastOp(value, bits))))
        return emitter.value(arith.BitcastOp(old, value.type))
    return emitter.value(AtomicRmwOp(native, pointer, value))


def _retry(emitter: Emitter, combine: _Combine, pointer: SSAValue, value: SSAValue) -> SSAValue:
    """Read, combine and compare-exchange until no other work-item intervened."""
    type_ = value.type
    bits = IntegerType(bits_of(type_))
    first = load(emitter, pointer, bits)
    with emitter.into(before := Block(arg_types=[bits])):
        old = before.args[0]
        now = _as(emitter, old, type_)
        new = _as(emitter, emitter.value(combine(now, value)), bits)
        pair = emitter.value(AtomicCmpXchgOp(pointer, old, new, LLVMStructType.from_type_list([bits, i1])))
        found = emitter.value(ExtractValueOp(DenseArrayBase.from_list(i64, [0]), pair, bits))
        done = emitter.value(ExtractValueOp(DenseArrayBase.from_list(i64, [1]), pair, i1))
        again = emitter.value(arith.XOrIOp(done, emitter.constant(1, i1)))
        emitter.add(scf.ConditionOp(again, found))
    with emitter.into(after := Block(arg_types=[bits])):
        emitter.add(scf.YieldOp(after.args[0]))
    loop = scf.WhileOp([first], [bits], Region(before), Region(after))
    emitter.add(loop)
    return _as(emitter, loop.results[0], type_)


def _as(emitter: Emitter, scalar: SSAValue, type_: Attribute) -> SSAValue:
    return scalar if scalar.type == type_ else emitter.value(arith.BitcastOp(scalar, type_))


HANDLERS: Mapping[str, Handler] = {"memref.atomic_rmw": _memref_atomic_rmw, "xegpu.atomic_rmw": _atomic_rmw}
