"""Indices and addresses of a kernel as sums of products."""

from collections.abc import Callable
from math import gcd
from typing import Any, TypeVar

from xdsl.dialects import arith, llvm, memref, scf, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from codegen.artifact.signature import (
    Field,
    Parameter,
)
from codegen.xe.dialects.index_list import (
    Index,
    join,
)
from codegen.xe.dialects.interned import numbers
from codegen.xe.passes.lanes.analysis.affine import (
    Sum,
    Unknown,
    added,
    constant,
    factors,
    is_given,
    multiplied,
)
from codegen.xe.passes.lanes.analysis.divisibility import number
from codegen.xe.passes.lanes.emitter import bits_of, length_of

T = TypeVar("T")

_SAME = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "llvm.inttoptr")
_KEEP_DIVISORS = (
    *("arith.remui", "arith.remsi", "arith.minui", "arith.minsi"),
    *("arith.maxui", "arith.maxsi", "arith.select"),
)
_VIEWS = (memref.ReinterpretCastOp, memref.SubviewOp)
_FROM_ELSEWHERE = ("memref.", "llvm.", "scf.")
_MOST_FACTORS = 1024


class Sums:
    """The values of one kernel as sums, before and after lowering: both have the same arguments."""

    def __init__(self, before: Block, after: Block) -> None:
        self._entries = before, after
        self._known: dict[SSAValue, Sum] = {}
        self._found: dict[object, Any] = {}

    def of(self, value: Index) -> Sum:
        """Return an index, an address or a pointer as a sum."""
        known = number(value)
        if known is not None or not isinstance(value, SSAValue):
            return constant(known or 0)
        if value not in self._known:
            self._known[value] = self._of(value)
        return self._known[value]

    def of_register(self, chunk: SSAValue, at: int) -> Sum | None:
        """Return a register of a chunk as a sum; None if it is not of sums and products of indices."""
        return self.once((chunk, at), lambda: self._of_register(chunk, at))

    def _of_register(self, chunk: SSAValue, at: int) -> Sum | None:
        match chunk.owner:
            case vector.BroadcastOp() as op:
                return self.of(op.source)
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as held):
                number_ = held.get_values()[at]
                return constant(number_) if isinstance(number_, int) else None
            case arith.AddiOp() | arith.MuliOp() as op:
                one, other = self.of_register(op.lhs, at), self.of_register(op.rhs, at)
                if one is None or other is None:
                    return None
                return added(one, other) if isinstance(op, arith.AddiOp) else multiplied(one, other)
            case vector.ShuffleOp() as op:
                chunk, place = source_of(op, at)
                return self.of_register(chunk, place)
            case Operation(name="arith.index_cast") as op:
                return self.of_register(op.operands[0], at)
            case _:
                return None

    def once(self, key: object, find: Callable[[], T]) -> T:
        """Return the result of an analysis of sums, made once a key."""
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]

    def carry(self, argument: SSAValue, start: Index, step: Sum | None) -> None:
        """Record a value carried by a loop, with its start and the increment `step` per iteration, if known."""
        if step is None:
            return
        rounds = Unknown(argument, given=False)
        self._known[argument] = added(self.of(start), multiplied(step, {(rounds,): 1}))

    def _of(self, value: SSAValue) -> Sum:
        if isinstance(value, BlockArgument):
            return self._of_argument(value)
        assert isinstance(value, OpResult)
        owner = value.op
        match owner:
            case arith.AddiOp():
                return added(self.of(owner.lhs), self.of(owner.rhs))
            case arith.SubiOp():
                return added(self.of(owner.lhs), self.of(owner.rhs), -1)
            case arith.MuliOp():
                one, other = self.of(owner.lhs), self.of(owner.rhs)
                # Repeated squaring doubles the factors of a product each time, and squares the number of products.
                if factors(one) * factors(other) > _MOST_FACTORS:
                    return self._of_operation(owner, value)
                return multiplied(one, other)
            case memref.DimOp() if (axis := number(owner.index)) is not None:
                return self._field(owner.source, Field.SIZE, axis, value)
            case memref.ExtractAlignedPointerAsIndexOp() | memref.ExtractStridedMetaDataOp():
                return self._of_memref(owner, value)
            case llvm.GEPOp():
                return self._of_pointer(owner)
            case vector.ExtractOp(dynamic_position=()) if len(at := numbers(owner.static_position)) == 1:
                found = self.of_register(owner.vector, at[0])
                return self._of_operation(owner, value) if found is None else found
            case _ if owner.name in _SAME:
                return self.of(owner.operands[0])
            case _:
                return self._of_operation(owner, value)

    def _of_argument(self, value: BlockArgument) -> Sum:
        loop = value.block.parent_op()
        if self._is_argument(value):
            return {(Parameter(value.index, Field.VALUE),): 1}
        if isinstance(loop, scf.ForOp) and value.index == 0:
            rounds = Unknown(value, given=False)
            return added(self.of(loop.lb), multiplied(self.of(loop.step), {(rounds,): 1}))
        return {(Unknown(value, given=True),): 1}

    def _of_memref(self, op: Operation, value: OpResult) -> Sum:
        source = op.operands[0]
        if isinstance(op, memref.ExtractStridedMetaDataOp):
            for axis, (size, stride) in enumerate(zip(op.sizes, op.strides, strict=True)):
                if value in (size, stride):
                    return self._field(source, Field.SIZE if value is size else Field.STRIDE, axis, value)
            return self._field(source, Field.OFFSET, 0, value)
        return self._field(source, Field.POINTER, 0, value)

    def _field(self, source: SSAValue, field: Field, axis: int, value: OpResult) -> Sum:
        """Return the sum of a field that `value` reads of a memref: an argument, or a view of one."""
        if isinstance(source, BlockArgument) and self._is_argument(source):
            return {(Parameter(source.index, field, axis),): 1}
        view = source.owner
        if isinstance(view, memref.ReinterpretCastOp) and field is not Field.POINTER:
            lists = {
                Field.OFFSET: join(iter(view.offsets), view.static_offsets),
                Field.SIZE: join(iter(view.sizes), view.static_sizes),
                Field.STRIDE: join(iter(view.strides), view.static_strides),
            }
            return self.of(lists[field][axis])
        if isinstance(view, memref.SubviewOp) and field is Field.OFFSET:
            offsets = join(iter(view.offsets), view.static_offsets)
            total = self._offset(view.source, value)
            for dim, offset in enumerate(offsets):
                total = added(total, multiplied(self.of(offset), self._stride(view.source, dim, value)))
            return total
        if isinstance(view, memref.CastOp) or (field is Field.POINTER and isinstance(view, _VIEWS)):
            return self._field(view.operands[0], field, axis, value)
        return {(Unknown(value, given=True),): 1}

    def _offset(self, source: SSAValue, value: OpResult) -> Sum:
        layout = _type(source).layout
        static = layout.get_offset() if isinstance(layout, StridedLayoutAttr) else 0
        return self._field(source, Field.OFFSET, 0, value) if static is None else constant(static)

    def _stride(self, source: SSAValue, axis: int, value: OpResult) -> Sum:
        strides = _type(source).get_strides()
        static = None if strides is None else strides[axis]
        return self._field(source, Field.STRIDE, axis, value) if static is None else constant(static)

    def _is_argument(self, value: BlockArgument) -> bool:
        return any(value.block is entry for entry in self._entries)

    def _of_pointer(self, op: llvm.GEPOp) -> Sum:
        offset: Index
        (offset,) = op.ssa_indices or op.rawConstantIndices.get_values()
        return added(self.of(op.ptr), self.of(offset), bits_of(op.elem_type) // 8)

    def _of_operation(self, op: Operation, value: OpResult) -> Sum:
        sums = [self.of(o) for o in op.operands]
        given = op.name.startswith(_FROM_ELSEWHERE) or any(map(is_given, sums))
        times = 1
        if op.name in _KEEP_DIVISORS:
            times = gcd(*(n for s in sums[-2:] for n in s.values()))
        return {(Unknown(value, given),): times} if times else {}


def source_of(shuffle: vector.ShuffleOp, at: int) -> tuple[SSAValue, int]:
    """Return the chunk and the position there that a register of a shuffle is of."""
    place, length = numbers(shuffle.mask)[at], length_of(shuffle.v1)
    return (shuffle.v1, place) if place < length else (shuffle.v2, place - length)


def _type(value: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(value.type, MemRefType)
    return value.type
