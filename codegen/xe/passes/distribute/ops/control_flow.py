"""Loops and branches: a carried work-group value becomes the blocks of one sub-group.

A carried block descriptor becomes its offsets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from codegen.xe.dialects.creation import append, create, erase, for_loop, insert_before, walk
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp
from codegen.xe.dialects.xegpu import (
    CreateNdTdescOp,
    RangeAttr,
    TensorDescType,
)
from codegen.xe.locations import Rewriting
from codegen.xe.passes.distribute.rule import (
    RANGE,
    Rule,
    refuse,
    shape_of,
)
from codegen.xe.passes.distribute.work import (
    Position,
    Work,
    index,
    part_type,
    plain_attributes,
)


@dataclass(frozen=True, slots=True)
class Passed:
    """An operand that passes a value on."""

    op: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        """The value."""
        return self.op.operands[self.number]


@dataclass(frozen=True, slots=True)
class Tie:
    """Values that have one layout: `ends` receive what is passed on; strong sources take precedence over weak ones."""

    ends: tuple[SSAValue, ...]
    strong: tuple[Passed, ...]
    weak: tuple[Passed, ...] = ()


def ties(op: Operation) -> list[Tie]:
    """Return the values that a loop or branch passes on."""
    if not op.regions:
        return []
    if isinstance(op, scf.ForOp):
        arguments, back = op.body.block.args[1:], _terminator(op.body.block)
        return [
            Tie((argument, result), (Passed(back, i),), (Passed(op, i + 3),))
            for i, (argument, result) in enumerate(zip(arguments, op.results, strict=True))
        ]
    if isinstance(op, scf.IfOp):
        ends = [_terminator(region.block) for region in op.regions if region.blocks]
        return [Tie((result,), tuple(Passed(end, i) for end in ends)) for i, result in enumerate(op.results)]
    if isinstance(op, scf.WhileOp):
        before, after = op.before_region.block, op.after_region.block
        back, passed = _terminator(after), _terminator(before)
        out = zip(after.args, op.results, strict=True)
        return [
            *(Tie((argument,), (Passed(back, i),), (Passed(op, i),)) for i, argument in enumerate(before.args)),
            *(Tie((argument, result), (Passed(passed, i + 1),)) for i, (argument, result) in enumerate(out)),
        ]
    return []


def _terminator(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


class ControlFlow:
    """Lowering of loops and branches; `distribute_block` lowers the operations in them."""

    def __init__(self, distribute_block: Callable[[Block, Work], None]) -> None:
        self._distribute_block = distribute_block

    def rules(self) -> dict[type[Operation], Rule]:
        """Return the rules of these operations."""
        return {scf.ForOp: Rule(self._for), scf.IfOp: Rule(self._if), scf.WhileOp: Rule(self._while)}

    def _for(self, op: scf.ForOp, work: Work) -> None:
        bases = [_base(work, init) for init in op.iter_args]
        inits = _flat(work, op.iter_args)
        body = self._body(op.body.block, [None, *bases], work)
        self._end(body, work, bases)
        work.at = InsertPoint.before(op)
        new = for_loop((op.lb, op.ub, op.step), inits, body)
        new.attributes.update(plain_attributes(op))
        work.insert(new)
        _bind(work, op.results, new.results, bases)
        work.dead.append(op)

    def _if(self, op: scf.IfOp, work: Work) -> None:
        bases: list[CreateNdTdescOp | None] = [None] * len(op.results)
        if any(isinstance(r.type, TensorDescType) and r.type.scatter is None for r in op.results):
            raise refuse("no descriptor of a block as a result of scf.if", op.results[0].type)
        around = _checked_range(op, work.subgroups)
        regions: list[Region] = []
        for region in op.regions:
            if region.blocks:
                body = self._body(region.block, [], work)
                self._end(body, work, bases)
                regions.append(Region(body))
        work.at = InsertPoint.before(op)
        types = [kind for result in op.results for kind in _types(work, result, None)]
        attributes = {name: value for name, value in plain_attributes(op).items() if name != RANGE}
        new = scf.IfOp(op.cond, types, *regions, attr_dict=attributes)
        if around is None:
            work.insert(new)
        else:
            work.insert(scf.IfOp(_inside(work, around), [], Region(Block([new, scf.YieldOp()]))))
        _bind(work, op.results, new.results, bases)
        work.dead.append(op)

    def _while(self, op: scf.WhileOp, work: Work) -> None:
        carried = [_base(work, value) for value in op.arguments]
        inits = _flat(work, op.arguments)
        before = self._body(op.before_region.block, carried, work)
        passed_on = _terminator(before).operands[1:]
        passed = [_base(work, value) for value in passed_on]
        types = [kind for value, base in zip(passed_on, passed, strict=True) for kind in _types(work, value, base)]
        self._end(before, work, passed, kept=1)
        after = self._body(op.after_region.block, passed, work)
        self._end(after, work, carried)
        work.at = InsertPoint.before(op)
        new = work.insert(scf.WhileOp(inits, types, Region(before), Region(after)))
        new.attributes.update(plain_attributes(op))
        _bind(work, op.results, new.results, passed)
        work.dead.append(op)

    def _body(self, old: Block, bases: Sequence[CreateNdTdescOp | None], work: Work) -> Block:
        """Create the block of the sub-group and lower the operations of the old one into it."""
        types = [kind for arg, base in zip(old.args, bases, strict=True) for kind in _types(work, arg, base)]
        new = Block(arg_types=types)
        region = old.parent
        assert region is not None
        region.add_block(new)  # so that queries about the parents of its operations work
        for op in list(old.ops):
            op.detach()
            append(new, op)
        _bind(work, old.args, new.args, bases)
        self._distribute_block(new, work)
        return new

    def _end(self, block: Block, work: Work, bases: Sequence[CreateNdTdescOp | None], kept: int = 0) -> None:
        """Make a terminator pass on the blocks of the sub-group; its first `kept` operands stay."""
        old = _terminator(block)
        passed = old.operands[kept:]
        for value, base in zip(passed, bases, strict=True):
            if base is not None and _base(work, value) is not base:
                raise refuse("a descriptor of the same matrix throughout a loop", base.result.type)
        work.at = InsertPoint.before(old)
        operands = [*old.operands[:kept], *_flat(work, passed)]
        new = create(type(old), operands, ())
        new.attributes.update(old.attributes)
        insert_before(new, old)
        erase(old)
        region = block.parent
        assert region is not None
        region.detach_block(block)


def _checked_range(op: scf.IfOp, subgroups: int | None = None) -> RangeAttr | None:
    """Return the range of sub-groups that alone run an scf.if, with either branch.

    Raises:
        PassFailedException: it names sub-groups that do not exist, or the others would lack results.
    """
    around = op.attributes.get(RANGE)
    if around is None:
        return None
    if not isinstance(around, RangeAttr):
        raise refuse(f"#xegpu.range<[start, end]> as {RANGE}", around)
    if op.results:
        raise refuse(
            f"an scf.if with {RANGE} without results, which the other sub-groups would lack", op.results[0].type
        )
    if subgroups is not None and around.end > subgroups:
        raise refuse(f"{RANGE} within the {subgroups} sub-groups of the work-group", around)
    return around


def restrict_to_ranges(func: FuncOp, work: Work, subgroups: int | None) -> None:
    """Let the sub-groups of its range alone run each scf.if of a kernel without layouts.

    Raises:
        PassFailedException: a range names sub-groups that do not exist, or the others would lack results.
    """
    for op in list(walk(func)):
        if not isinstance(op, scf.IfOp):
            continue
        with Rewriting(op):
            around = _checked_range(op, subgroups)
        if around is not None:
            del op.attributes[RANGE]
            work.at = InsertPoint.before(op)
            condition = _inside(work, around)
            outer = work.insert(scf.IfOp(condition, [], Region(Block())))
            op.detach()
            outer.true_region.block.add_ops([op, scf.YieldOp()])


def _inside(work: Work, around: RangeAttr) -> SSAValue:
    """Return whether this sub-group is in a range."""
    number = work.subgroup()
    low = work.insert(CmpiOp(number, work.constant(around.start), "uge")).result
    high = work.insert(CmpiOp(number, work.constant(around.end), "ult")).result
    return work.insert(arith.AndIOp(low, high)).result


def _base(work: Work, value: SSAValue) -> CreateNdTdescOp | None:
    position = work.descriptors.get(value)
    return None if position is None else position.base


def _types(work: Work, value: SSAValue, base: CreateNdTdescOp | None) -> list[Attribute]:
    """Return the types that a carried value becomes."""
    if base is not None:
        return [index] * len(work.descriptors[base.result].offsets)
    if shape_of(value) is None:
        return [value.type]
    return [part_type(value, work.layout(value).data)] * len(work.blocks(value))


def _flat(work: Work, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Return the new values of all given ones, concatenated."""
    flat: list[SSAValue] = []
    for value in values:
        if value in work.descriptors:
            flat += [work.value(offset) for offset in work.descriptors[value].offsets]
        else:
            flat += work.parts.get(value, (value,))
    return flat


def _bind(
    work: Work, old: Sequence[SSAValue], new: Sequence[SSAValue], bases: Sequence[CreateNdTdescOp | None]
) -> None:
    """Record the new values of carried ones."""
    values = iter(new)
    for value, base in zip(old, bases, strict=True):
        parts = tuple(next(values) for _ in _types(work, value, base))
        for part in parts:
            part.name_hint = value.name_hint
        if base is not None:
            work.descriptors[value] = Position(base, parts)
        elif shape_of(value) is None:
            value.replace_all_uses_with(parts[0])
        else:
            work.parts[value] = parts
