"""Schedules operations by stores: the operands of a store are computed right before it.

Lowering proceeds operation by operation over the whole tile of a sub-group. Intel's compiler roughly keeps
the given order, so a long epilogue would hold several tiles at once and spill registers.
"""

# pyright: reportPrivateUsage=false
# xDSL's public view of operands is an object of its own, which a large tile would need by the thousand.

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.llvm import LoadOp, StoreOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from codegen.xe.dialects.creation import reorder, walk
from codegen.xe.dialects.gpu import ShuffleOp
from codegen.xe.dialects.upstream.llvm_ops import (
    GLOBAL,
    AtomicRmwOp,
    DeviceCallOp,
    ExchangeOp,
    LoadEachOp,
    ShuffleCallOp,
    StoreEachOp,
)
from codegen.xe.dialects.upstream.xevm import (
    BlockLoad2dOp,
    BlockStore2dOp,
    MmaOp,
)
from codegen.xe.passes.lanes.analysis.aliases import (
    Aliases,
    Load,
    is_pure,
    writes,
)
from codegen.xe.passes.lanes.analysis.inst_data import READ_AHEAD_BYTES
from codegen.xe.passes.lanes.emitter import (
    bits_of,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import Lowering
from codegen.xe.subgroup import subgroup_size

_PRODUCTS = frozenset({MmaOp, scf.ForOp, scf.WhileOp})
_MOVE_TOO = frozenset({BlockLoad2dOp, LoadOp, LoadEachOp, ShuffleOp, ShuffleCallOp, ExchangeOp})
"""Movable operations; shuffles too, because all operations of a block run in the same lanes."""
_WORD_BYTES = 4


def order_by_stores(body: Block, lowering: Lowering, *, apart: bool) -> None:
    """Schedule, in place, what follows the products of each block that stores to memory.

    Operations with effects keep their order, and no load moves past a possible write to its memory. `apart`:
    arguments do not alias.
    """
    aliases = Aliases(lowering.sums, apart=apart)
    for block in [body, *(block for op in walk(body) for region in op.regions for block in region.blocks)]:
        tail = _after_products(block, lowering)
        if sum(map(_stores, tail)) > 1:
            reorder(block, _Tail(tail, lowering, aliases).ordered(), after=tail[0].prev_op)


def _after_products(block: Block, lowering: Lowering) -> list[Operation]:
    """Return the operations after the last product or loop; earlier ones keep the order of operand loads."""
    tail: list[Operation] = []
    op = block.last_op
    while op is not None and not _multiplies(op, lowering):
        tail.append(op)
        op = op.prev_op
    return tail[::-1]


def _multiplies(op: Operation, lowering: Lowering) -> bool:
    return type(op) in _PRODUCTS or _calls_all_lanes(op, lowering)


def _calls_all_lanes(op: Operation, lowering: Lowering) -> bool:
    """True for calls of convergent functions, such as those of products."""
    if type(op) is not DeviceCallOp:
        return False
    assert isinstance(op, DeviceCallOp)
    declared = lowering.emitter.functions.get(op.callee.root_reference.data)
    return declared is None or "convergent" in declared.properties


def _stores(op: Operation) -> bool:
    """True if an operation, or a nested one, writes to device memory."""
    if op.regions:
        return any(_stores(inner) for region in op.regions for block in region.blocks for inner in block.ops)
    kind = type(op)
    if kind is StoreOp or kind is StoreEachOp:
        return op.operands[1].type == GLOBAL
    return kind is BlockStore2dOp or kind is AtomicRmwOp


class _Tail:
    """The last operations of a block, while they are ordered. Operations are known by their places.

    `_waiting` tells those not yet written. `_after` are, as bit sets of places, the movable loads and the
    order-keeping operations that each depends on; `_missing` are those of them not yet written.
    """

    def __init__(self, ops: Sequence[Operation], lowering: Lowering, aliases: Aliases) -> None:
        self._ops, self._aliases = ops, aliases
        self._at = {id(op): place for place, op in enumerate(ops)}  # quick: xDSL hashes operations in Python
        loads = {place: op for place, op in enumerate(ops) if _loads(op)}
        ahead = sum(map(_register_bytes, loads.values())) <= READ_AHEAD_BYTES
        self._loads = {} if ahead else loads
        self._stays = [
            place for place, op in enumerate(ops) if not _may_move(op, lowering) or (ahead and place in loads)
        ]
        self._waiting = [True] * len(ops)
        self._needs = [[at for need in _made_by(op) if (at := self._at.get(id(need))) is not None] for op in ops]
        self._missing = sum(1 << place for place in (*self._stays, *self._loads))
        self._after: list[int] = []
        for place, needs in enumerate(self._needs):
            bits = self._missing & 1 << place
            for need in needs:
                bits |= self._after[need]
            self._after.append(bits)
        self._ordered: list[Operation] = []

    def ordered(self) -> list[Operation]:
        """Return all operations: movable ones before their first user, or before what they must not pass."""
        for place in self._stays:
            op = self._ops[place]
            if op.has_trait(IsTerminator):
                break
            if writes(op):
                self._write_loads_before(place)
            self._write(place)
        for place in range(len(self._ops)):  # unused operations and the terminator
            self._write(place)
        return self._ordered

    def _write_loads_before(self, place: int) -> None:
        for at, load in self._loads.items():
            if at > place:
                break
            if self._waiting[at] and self._aliases.may_write(self._ops[place], load):
                self._write(at)

    def _write(self, place: int) -> None:
        """Append an operation and, before it, all that it depends on, unless already written."""
        waiting, pending = self._waiting, [place]
        while pending:
            last = pending[-1]
            needed = [need for need in self._needs[last] if waiting[need]]
            if needed:
                pending += reversed(needed)
                continue
            pending.pop()
            if waiting[last]:
                waiting[last] = False
                self._ordered.append(self._ops[last])
                self._missing &= ~(1 << last)
                if (load := self._loads.get(last)) is not None:
                    self._use_up(load)

    def _use_up(self, load: Load) -> None:
        """Append the operations that join a loaded value with others, to free its registers: stores need only parts."""
        from_load = set(load.results)
        pending: list[Operation] = [load]
        while pending:
            for use in [use for result in pending.pop().results for use in result.uses]:
                user, place = use.operation, self._at.get(id(use.operation))
                if place is None or not self._waiting[place] or self._after[place] & self._missing:
                    continue
                if all(operand in from_load or _is_same_everywhere(operand) for operand in user.operands):
                    if not from_load.issuperset(user.results):
                        from_load.update(user.results)
                        pending.append(user)
                else:
                    self._write(place)


def _loads(op: Operation) -> TypeGuard[Load]:
    return type(op) is LoadOp or type(op) is LoadEachOp or type(op) is BlockLoad2dOp


def _register_bytes(load: Load) -> int:
    """Return the bytes that a load fills in the registers of all lanes, of which one by lanes fills whole words."""
    (value,) = load.results
    length = length_of(value)
    of_lane = length * bits_of(element_of(value)) // 8
    if type(load) is BlockLoad2dOp:
        return of_lane * subgroup_size()
    return max(of_lane, _WORD_BYTES * (length if type(load) is LoadEachOp else 1)) * subgroup_size()


def _is_same_everywhere(value: SSAValue) -> bool:
    """True if all registers of a chunk hold one number, which need not stay in registers."""
    return isinstance(value.owner, vector.BroadcastOp | arith.ConstantOp)


def _may_move(op: Operation, lowering: Lowering) -> bool:
    kind = type(op)
    if kind is DeviceCallOp:
        return not _calls_all_lanes(op, lowering)
    if op.regions or kind is arith.ConstantOp:
        return False
    return is_pure(kind) or kind in _MOVE_TOO


def _made_by(op: Operation) -> Iterator[Operation]:
    """Yield the operations that define the operands of an operation and of its nested ones."""
    for inner in walk(op) if op.regions else (op,):
        for operand in inner._operands:
            if type(operand) is OpResult:
                yield operand.op
