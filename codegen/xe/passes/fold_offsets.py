"""Folds moves of tiles or descriptors into the offsets with which they are created.

Loops and branches then carry the offsets that change. A `Placed` describes the kind of value, its creation
and its moves.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import (
    Index,
    index,
)
from codegen.xe.locations import Rewriting

Place = tuple[Index, ...]
"""A place: constant and SSA offsets, or one vector of indices."""


class Placed(ABC):
    """Values of a kind that have a place (offsets). `flag` is the pass, `noun` the kind and `makers` its operations."""

    flag: str
    noun: str
    makers: str

    @abstractmethod
    def holds(self, type_: Attribute) -> bool:
        """Return whether values of a type are of the kind."""

    @abstractmethod
    def place(self, op: Operation) -> Place | None:
        """Return the place at which an operation creates a value; None if it does not create one."""

    @abstractmethod
    def move(self, op: Operation, rank: int) -> tuple[SSAValue, Place] | None:
        """Return the value that an operation moves, and by how much (`rank` offsets); None if it moves none."""

    @abstractmethod
    def matches(self, one: Operation, other: Operation) -> bool:
        """Return whether two operations create the same value except for the place."""

    @abstractmethod
    def at(self, op: Operation, place: Place) -> Operation:
        """Return the operation that creates the same value at another place."""

    def part_name(self, part: int, rank: int) -> str:
        """Return the name of one offset of a place of `rank` offsets."""
        if rank < 2:
            return "indices"
        return ("row", "column")[part - rank + 2] if part >= rank - 2 else "batch"


def fold_offsets(block: Block, kind: Placed) -> None:
    """Fold all moves in a block and its nested blocks.

    Raises:
        PassFailedException: a value comes from an unsupported operation, or a loop or branch changes what
            it is created from.
    """
    for op in tuple(block.ops):
        with Rewriting(op):
            _fold(op, kind)


def _fold(op: Operation, kind: Placed) -> None:
    if any(kind.holds(r.type) for r in op.results) and _try_move(op, kind):
        return
    if isinstance(op, scf.ForOp) and any(kind.holds(v.type) for v in op.iter_args):
        _fold_loop(op, kind)
    elif isinstance(op, scf.IfOp) and any(kind.holds(r.type) for r in op.results):
        _fold_branch(op, kind)
    else:
        for region in op.regions:
            for inner in region.blocks:
                fold_offsets(inner, kind)


def _try_move(op: Operation, kind: Placed) -> bool:
    found = kind.move(op, 0)
    if found is None:
        return False
    made, place = _made(found[0], kind)
    moved = kind.move(op, len(place))
    assert moved is not None
    total = tuple(add(a, b, InsertPoint.before(op)) for a, b in zip(place, moved[1], strict=True))
    (result,) = op.results
    result.replace_all_uses_with(_at(made, total, InsertPoint.before(op), result.name_hint, kind))
    Rewriter.erase_op(op)
    return True


def _fold_loop(loop: scf.ForOp, kind: Placed) -> None:
    """Replace the carried values of a loop by those of their offsets that change."""
    old = loop.body.block
    end = old.last_op
    assert isinstance(end, scf.YieldOp)
    given = zip(old.args[1:], loop.iter_args, end.operands, strict=True)
    carried = [_Carried.by_loop(argument, start, yielded, kind) for argument, start, yielded in given]
    starts = [as_value(v, InsertPoint.before(loop)) for c in carried for v in c.split(c.start)]
    block = Block(arg_types=[old.args[0].type, *(v.type for v in starts)])
    rename(old.args[0], block.args[0])
    arguments = iter(block.args[1:])
    for c in carried:
        rename(c.value, c.join(arguments, InsertPoint.at_end(block)))
    for op in tuple(old.ops):
        op.detach()
        block.add_op(op)
    fold_offsets(block, kind)
    where = InsertPoint.before(end)
    ends = [as_value(v, where) for c, y in zip(carried, end.operands, strict=True) for v in c.split(y)]
    Rewriter.replace_op(end, scf.YieldOp(*ends))
    new = scf.ForOp(loop.lb, loop.ub, loop.step, starts, block)
    new.attributes = loop.attributes
    Rewriter.insert_op(new, InsertPoint.before(loop))
    _replace_results(loop, new, carried)


def _fold_branch(branch: scf.IfOp, kind: Placed) -> None:
    """Replace the results of a branch by those of their offsets that differ."""
    ends: list[Operation] = []
    for region in branch.regions:
        fold_offsets(region.block, kind)
        end = region.block.last_op
        assert end is not None  # a branch with results yields them in both regions
        ends.append(end)
    given = zip(branch.results, ends[0].operands, ends[1].operands, strict=True)
    carried = [_Carried.by_branch(result, yes, no, kind) for result, yes, no in given]
    types: list[Attribute] = []
    for end in ends:
        where, pairs = InsertPoint.before(end), zip(carried, end.operands, strict=True)
        parts = [as_value(v, where) for c, y in pairs for v in c.split(y)]
        types = [part.type for part in parts]
        Rewriter.replace_op(end, scf.YieldOp(*parts))
    false, true = branch.detach_region(1), branch.detach_region(0)
    new = scf.IfOp(branch.cond, types, true, false, branch.attributes)
    Rewriter.insert_op(new, InsertPoint.before(branch))
    _replace_results(branch, new, carried)


def _replace_results(old: Operation, new: Operation, carried: Sequence["_Carried"]) -> None:
    results = iter(new.results)
    for c, result in zip(carried, old.results, strict=True):
        rename(result, c.join(results, InsertPoint.before(old)))
    Rewriter.erase_op(old)


@dataclass(frozen=True, slots=True)
class _Carried:
    """A carried value or a result; its start, its creating operation, and the offsets that change."""

    value: SSAValue
    start: SSAValue
    made: Operation | None
    changes: tuple[bool, ...]
    kind: Placed

    @staticmethod
    def by_loop(argument: SSAValue, start: SSAValue, yielded: SSAValue, kind: Placed) -> "_Carried":
        """Analyse a value carried by a loop."""
        if not kind.holds(start.type):
            return _Carried(argument, start, None, (), kind)
        made, place = _made(start, kind)
        return _Carried(argument, start, made, _changes(argument, yielded, len(place), kind), kind)

    @staticmethod
    def by_branch(result: SSAValue, yes: SSAValue, no: SSAValue, kind: Placed) -> "_Carried":
        """Analyse a result of a branch."""
        if not kind.holds(result.type):
            return _Carried(result, yes, None, (), kind)
        (made, one), (_, other) = _made(yes, kind), _made(no, kind)
        # Equal constants defined in both regions must be carried too: neither is visible outside.
        pairs = zip(one, other, strict=False)
        return _Carried(
            result, yes, made, tuple(a is not b and not (isinstance(a, int) and a == b) for a, b in pairs), kind
        )

    def split(self, value: SSAValue) -> Place:
        """Return the carried form of a value: itself, or the offsets that change."""
        if self.made is None:
            return (value,)
        (made, place), (first, start) = _made(value, self.kind), _made(self.start, self.kind)
        fixed = [(a, b) for a, b, changes in zip(place, start, self.changes, strict=False) if not changes]
        if not self.kind.matches(made, first) or any(known(a) != known(b) for a, b in fixed):
            noun = self.kind.noun
            raise PassFailedException(
                f"{self.kind.flag}: expected loops and branches to move their {noun}s, got one that changes matrix"
            )
        return tuple(part for part, changes in zip(place, self.changes, strict=True) if changes)

    def join(self, values: Iterator[SSAValue], where: InsertPoint) -> SSAValue:
        """Rebuild the value from its carried form."""
        if self.made is None:
            return next(values)
        start = self.kind.place(self.made)
        assert start is not None
        parts: list[Index] = []
        for part, (old, changes) in enumerate(zip(start, self.changes, strict=True)):
            new = next(values) if changes else old
            if changes and isinstance(new, SSAValue):
                name = self.kind.part_name(part, len(start))
                new.name_hint = f"{self.value.name_hint or self.kind.noun}_{name}"
            parts.append(new)
        return _at(self.made, tuple(parts), where, self.value.name_hint, self.kind)


def _changes(argument: SSAValue, yielded: SSAValue, rank: int, kind: Placed) -> tuple[bool, ...]:
    """Return which offsets change between start and end of a loop's body; all, if the analysis fails."""
    changes = (False,) * rank
    while yielded is not argument:
        owner = yielded.owner
        moved = kind.move(owner, rank) if isinstance(owner, Operation) else None
        if moved is None:
            return (True,) * rank
        yielded, by = moved
        changes = tuple(change or known(b) != 0 for change, b in zip(changes, by, strict=True))
    return changes


def _made(value: SSAValue, kind: Placed) -> tuple[Operation, Place]:
    owner = value.owner
    place = kind.place(owner) if isinstance(owner, Operation) else None
    if not isinstance(owner, Operation) or place is None:
        source = owner.name if isinstance(owner, Operation) else "a block argument"
        raise PassFailedException(
            f"{kind.flag}: expected a {kind.noun} from {kind.makers}, scf.for or scf.if, got one from {source}"
        )
    return owner, place


def _at(made: Operation, place: Place, where: InsertPoint, name: str | None, kind: Placed) -> SSAValue:
    moved = kind.at(made, place)
    (result,) = moved.results
    result.name_hint = name
    Rewriter.insert_op(moved, where)
    return result


def add(a: Index, b: Index, where: InsertPoint) -> Index:
    """Return the sum of two indices, folded or inserted."""
    a, b = known(a), known(b)
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    total = arith.AddiOp(as_value(a, where), as_value(b, where))
    Rewriter.insert_op(total, where)
    return total.result


def known(value: Index) -> Index:
    """Return the number if the value is a constant, else the value."""
    if isinstance(value, SSAValue) and isinstance(value.owner, arith.ConstantOp):
        number = value.owner.value
        return number.value.data if isinstance(number, IntegerAttr) else value
    return value


def as_value(value: Index, where: InsertPoint) -> SSAValue:
    """Return an index as an SSA value; a number becomes a constant."""
    if isinstance(value, SSAValue):
        return value
    constant = arith.ConstantOp(IntegerAttr(value, index))
    constant.result.name_hint = f"c{value}"
    Rewriter.insert_op(constant, where)
    return constant.result


def rename(old: SSAValue, new: SSAValue) -> None:
    """Replace an old value by a new one."""
    if old.name_hint is not None and new.name_hint is None:
        new.name_hint = old.name_hint
    old.replace_all_uses_with(new)
