"""The meaning of control flow: scf, calls, and returns from them."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.xegpu import RangeAttr
from tests.oracle.elements import (
    Array,
    element_of,
)
from tests.oracle.execute import (
    Values,
    run_region,
)
from tests.oracle.frame import (
    Event,
    Frame,
    attribute,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import (
    find_rule,
    rule,
    rule_of,
)
from tests.oracle.values import Varying

_Running = Generator[Event, None, None]


def _set(frame: Frame, op: Operation, values: Values) -> None:
    frame.values.update(zip(op.results, values, strict=True))


@rule_of(scf.ForOp)
def _for(frame: Frame, op: scf.ForOp) -> _Running:
    lower, upper, step = (frame.number(v) for v in (op.lb, op.ub, op.step))
    if step < 1:
        raise KernelFault(str(op).split("\n", 1)[0], f"expected a step of at least 1, got {step}")
    carried = tuple(frame.values[v] for v in op.iter_args)
    for number in range(lower, upper, step):
        carried = yield from run_region(frame, op.body, (_like(number, op.lb), *carried))
    _set(frame, op, carried)


def _like(number: int, value: SSAValue) -> Array:
    return element_of(value.type).round(np.asarray(number))


@rule_of(scf.IfOp)
def _if(frame: Frame, op: scf.IfOp) -> _Running:
    if not _is_inside(frame, op):
        return
    chosen = op.true_region if _holds(frame, op) else op.false_region
    values: Values = ()
    if chosen.blocks:
        values = yield from run_region(frame, chosen, ())
    _set(frame, op, values)


def _range(frame: Frame, op: scf.IfOp) -> range:
    """Return the sub-groups of the work-group that run an scf.if."""
    some = attribute(op, "sg_id_range")
    if not isinstance(some, RangeAttr):
        return range(frame.group.subgroups)
    if op.results:
        raise InterpretationRefused(
            str(op).split("\n", 1)[0], "expected an scf.if for a range of sub-groups to have no results"
        )
    return range(some.start, min(some.end, frame.group.subgroups))


def _is_inside(frame: Frame, op: scf.IfOp) -> bool:
    """Return whether the sub-group, or any of the whole work-group, is in the range of an scf.if."""
    running = _range(frame, op)
    return bool(running) if frame.group.whole else frame.subgroup in running


def _holds(frame: Frame, op: scf.IfOp) -> bool:
    """Return whether the condition holds; if it depends on the sub-group, it must agree for all in the range."""
    if frame.values.get(op.cond) is not Varying.VALUE or attribute(op, "sg_id_range") is None:
        return bool(frame.array(op.cond))
    answers = {_in_subgroup(frame, op.cond, number) for number in _range(frame, op)}
    if len(answers) > 1:
        raise InterpretationRefused(
            str(op).split("\n", 1)[0], "expected a condition that holds for all sub-groups of sg_id_range or for none"
        )
    return answers == {True}


def _in_subgroup(frame: Frame, value: SSAValue, number: int) -> bool:
    """Return the value in one sub-group of a number that differs between sub-groups."""
    one = Frame(replace(frame.group, whole=False), number, dict(frame.values))
    _recompute(one, value)
    return bool(one.array(value))


def _recompute(frame: Frame, value: SSAValue) -> None:
    if frame.values.get(value) is Varying.VALUE and isinstance(value.owner, Operation):
        for operand in value.owner.operands:
            _recompute(frame, operand)
        meaning = find_rule(value.owner.name)
        assert meaning is not None, value.owner
        meaning(frame, value.owner)


@rule_of(scf.WhileOp)
def _while(frame: Frame, op: scf.WhileOp) -> _Running:
    values = tuple(frame.values[v] for v in op.arguments)
    while True:
        condition, *kept = yield from run_region(frame, op.before_region, values)
        assert isinstance(condition, np.ndarray)
        if not condition:
            break
        values = yield from run_region(frame, op.after_region, kept)
    _set(frame, op, tuple(kept))


@rule_of(scf.ExecuteRegionOp)
def _execute_region(frame: Frame, op: scf.ExecuteRegionOp) -> _Running:
    values = yield from run_region(frame, op.region, ())
    _set(frame, op, values)


@rule_of(scf.IndexSwitchOp)
def _switch(frame: Frame, op: scf.IndexSwitchOp) -> _Running:
    cases, number = op.cases.get_values(), frame.number(op.arg)
    region = op.case_regions[cases.index(number)] if number in cases else op.default_region
    values = yield from run_region(frame, region, ())
    _set(frame, op, values)


@rule_of(scf.ParallelOp)
def _parallel(frame: Frame, op: scf.ParallelOp) -> _Running:
    """Run the iterations one after the other, in row-major order."""
    bounds = [tuple(map(frame.number, values)) for values in (op.lowerBound, op.upperBound, op.step)]
    ranges = [range(*bound) for bound in zip(*bounds, strict=True)]
    totals = tuple(frame.values[v] for v in op.initVals)
    reduction = op.body.block.last_op
    assert isinstance(reduction, scf.ReduceOp)  # its terminator
    for place in np.ndindex(*map(len, ranges)):
        point = [np.asarray(r[p], np.int64) for r, p in zip(ranges, place, strict=True)]
        values = yield from run_region(frame, op.body, point)
        combined = list(totals)
        for position, (region, total, value) in enumerate(zip(reduction.reductions, totals, values, strict=True)):
            (combined[position],) = yield from run_region(frame, region, (total, value))
        totals = tuple(combined)
    _set(frame, op, totals)


@rule("memref.alloca_scope")
def _scope(frame: Frame, op: Operation) -> _Running:
    values = yield from run_region(frame, op.regions[0], ())
    _set(frame, op, values)


@rule("func.call")
def _call(frame: Frame, op: Operation) -> _Running:
    callee = attribute(op, "callee")
    name = callee.string_value() if isinstance(callee, SymbolRefAttr) else ""
    function = frame.group.symbols.get(name)
    if function is None or not function.regions or not function.regions[0].blocks:
        raise InterpretationRefused(str(op), f"expected a function with a body, got {name}")
    arguments = [frame.values[operand] for operand in op.operands]
    values = yield from run_region(frame.callee(), function.regions[0], arguments)
    _set(frame, op, values)
