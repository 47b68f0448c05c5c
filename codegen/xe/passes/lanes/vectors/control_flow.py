"""Loops and branches, which carry the lowered forms of sub-group values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block as IrBlock
from xdsl.ir import Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.creation import create, for_loop
from codegen.xe.passes.lanes.analysis.divisibility import number
from codegen.xe.passes.lanes.analysis.induction import steps_of
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.values import (
    Block,
    Lanes,
    Matrix,
    Scattered,
    Value,
    parts,
    rebuilt,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    layout_of,
)
from codegen.xe.passes.lanes.vectors.shuffles import convert

_MOST = 1 << 30  # two of them fit an i32
_NO_LAYOUT = layout_of([], [])


def _for(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    old = op.body.block
    if _runs_once(op):
        _lower_once(lowering, op)
        return
    lower, upper, step = _bounds(lowering, op)
    starts = _starts(lowering, op)
    block = _entered(lowering, old.args[1:], starts, first=[(old.args[0], lower)])
    loop = for_loop((lower, upper, step), _all_parts(starts), block)  # first, since its bounds divide its counter
    if lower.type != op.lb.type:
        with lowering.emitter.into(block):
            lowering.define(old.args[0], lowering.emitter.make(arith.IndexCastOp, block.args[:1], op.lb.type))
    _carry(lowering, old, starts, block.args[1:])
    with lowering.emitter.into(block):
        lowering.lower(old)
        _yield(lowering, old, starts)
    lowering.emitter.add(loop)
    _define_all(lowering, op.results, starts, loop.results)


def _starts(lowering: Lowering, op: scf.ForOp) -> list[Value]:
    """Return what a loop carries into its first iteration."""
    pairs = zip(op.body.block.args[1:], op.iter_args, strict=True)
    return [_carried(lowering, lowering[start], lowering.layout(argument)) for argument, start in pairs]


def _runs_once(op: scf.ForOp) -> bool:
    """True if a loop is known to have one iteration."""
    lower, upper, step = map(number, (op.lb, op.ub, op.step))
    return lower is not None and upper is not None and step is not None and lower < upper <= lower + step


def _lower_once(lowering: Lowering, op: scf.ForOp) -> None:
    """Lower a loop of one iteration to what it does.

    LLVM would hoist the addresses of all its loads, which no counter changes, and hold them until the last one.
    """
    old, starts = op.body.block, _starts(lowering, op)
    for argument, value in zip(old.args, (lowering[op.lb], *starts), strict=True):
        lowering.define(argument, value)
    lowering.lower(old)
    for result, value, start in zip(op.results, _last(old).operands, starts, strict=True):
        lowering.define(result, _like(lowering, lowering[value], start))


def _bounds(lowering: Lowering, op: scf.ForOp) -> list[SSAValue]:
    """Return start, end and step of a loop; in 32 bits if known to fit, like coordinates of block messages."""
    bounds = op.lb, op.ub, op.step
    numbers = [number(bound) for bound in bounds]
    if isinstance(op.lb.type, IndexType) and all(n is not None and 0 <= n < _MOST for n in numbers):
        return [lowering.emitter.as_int(bound, i32) for bound in bounds]
    return [lowering.scalar(bound) for bound in bounds]


def _if(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    likes: list[Value] = []
    regions: list[Region] = []
    for region in (op.true_region, op.false_region):
        if not region.blocks:
            regions.append(Region())
            continue
        block, old = IrBlock(), region.block
        with lowering.emitter.into(block):
            lowering.lower(old)
            if not likes:
                given = zip(op.results, _last(old).operands, strict=True)
                likes = [_carried(lowering, lowering[value], lowering.layout(result)) for result, value in given]
            _yield(lowering, old, likes)
        regions.append(Region(block))
    types = [p.type for like in likes for p in parts(like)]
    branch = scf.IfOp(lowering.scalar(op.cond), types, regions[0], regions[1])
    lowering.emitter.add(branch)
    _define_all(lowering, op.results, likes, branch.results)


def _while(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    given = zip(before.args, op.arguments, strict=True)
    starts = [_carried(lowering, lowering[s], lowering.layout(a)) for a, s in given]
    first = _entered(lowering, before.args, starts)
    with lowering.emitter.into(first):
        lowering.lower(before)
        condition = _last(before)
        assert isinstance(condition, scf.ConditionOp)
        passed = zip(after.args, condition.args, strict=True)
        likes = [_carried(lowering, lowering[v], lowering.layout(a)) for a, v in passed]
        lowering.emitter.add(scf.ConditionOp(lowering.scalar(condition.condition), *_all_parts(likes)))
    second = _entered(lowering, after.args, likes)
    with lowering.emitter.into(second):
        lowering.lower(after)
        _yield(lowering, after, starts)
    types = [p.type for p in _all_parts(likes)]
    loop = scf.WhileOp(_all_parts(starts), types, Region(first), Region(second))
    lowering.emitter.add(loop)
    _define_all(lowering, op.results, likes, loop.results)


def _entered(
    lowering: Lowering,
    old: Sequence[SSAValue],
    starts: Sequence[Value],
    first: Sequence[tuple[SSAValue, SSAValue]] = (),
) -> IrBlock:
    """Create a block whose arguments carry values; `first`: arguments before those, with values of their types."""
    block = IrBlock(arg_types=[*(v.type for _, v in first), *(p.type for p in _all_parts(starts))])
    for (argument, _), new in zip(first, block.args, strict=False):
        lowering.define(argument, new)
    _define_all(lowering, old, starts, block.args[len(first) :])
    return block


def _carry(lowering: Lowering, old: IrBlock, starts: Sequence[Value], arguments: Sequence[SSAValue]) -> None:
    """Record the increments per iteration of the places that a loop carries."""
    rest = list(arguments)
    for argument, start, last in zip(old.args[1:], starts, _last(old).operands, strict=True):
        carried = parts(start)
        if isinstance(start, SSAValue | Block):
            steps = steps_of(lowering.sums, argument, last, len(carried))
            for new, first, step in zip(rest, carried, steps, strict=False):
                lowering.sums.carry(new, first, step)
        del rest[: len(carried)]


def _all_parts(values: Sequence[Value]) -> list[SSAValue]:
    return [part for value in values for part in parts(value)]


def _define_all(lowering: Lowering, old: Sequence[SSAValue], likes: Sequence[Value], new: Sequence[SSAValue]) -> None:
    rest = list(new)
    for value, like in zip(old, likes, strict=True):
        count = len(parts(like))
        lowering.define(value, rebuilt(like, rest[:count]))
        del rest[:count]


def _yield(lowering: Lowering, old: IrBlock, likes: Sequence[Value]) -> None:
    values = [_like(lowering, lowering[v], like) for v, like in zip(_last(old).operands, likes, strict=True)]
    lowering.emitter.add(create(scf.YieldOp, _all_parts(values), ()))


def _last(block: IrBlock) -> Operation:
    last = block.last_op
    assert last is not None  # every region of scf has a terminator
    return last


def _carried(lowering: Lowering, value: Value, layout: LaneLayout) -> Value:
    """Return a value in the form in which a region carries it."""
    if isinstance(value, Lanes):
        moved = convert(lowering.emitter, value, layout)
        return Lanes(moved.type, moved.layout, moved.chunks)
    if isinstance(value, Block | Matrix):
        return replace(value, offsets=tuple(map(lowering.emitter.index, value.offsets)))
    return value


def _like(lowering: Lowering, value: Value, like: Value) -> Value:
    """Convert a value to the form of another.

    Raises:
        PassFailedException: they describe different memories.
    """
    if _memory(value) != _memory(like):
        raise PassFailedException("lower-to-lanes: expected a region to carry descriptors of one memory, got two")
    return _carried(lowering, value, like.layout if isinstance(like, Lanes) else _NO_LAYOUT)


def _memory(value: Value) -> object:
    if isinstance(value, Block | Scattered):
        return value.surface
    return (value.pointer, value.whole) if isinstance(value, Matrix) else None


def _nothing(lowering: Lowering, op: Operation) -> None:
    """Lower to nothing: terminators are written by the operation of their region."""


HANDLERS: Mapping[str, Handler] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": _nothing,
    "scf.condition": _nothing,
}
