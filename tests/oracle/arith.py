"""The meaning of arith's operations."""

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tests.oracle.arithmetic import (
    COMPARE_FLOATS,
    COMPARE_INTEGERS,
    FLOAT,
    INTEGER,
)
from tests.oracle.elements import (
    Array,
    Kind,
    as_signed,
    as_unsigned,
    element_of,
    shape_of,
)
from tests.oracle.frame import (
    Frame,
    attribute,
    name_of,
)
from tests.oracle.refusal import InterpretationRefused
from tests.oracle.registry import rule


@rule("arith.constant")
def _constant(frame: Frame, op: Operation) -> None:
    result, value = op.results[0], attribute(op, "value")
    frame.set(result, constant(value, result.type))


def constant(value: Attribute | None, type_: Attribute) -> Array:
    """The value of an attribute, as a type has it.

    Raises:
        InterpretationRefused: it is no number.
    """
    element, shape = element_of(type_), shape_of(type_)
    if isinstance(value, IntegerAttr | FloatAttr):
        data = value.value.data
        return element.round(np.asarray(data if element.kind is Kind.FLOAT else _wrapped(data)))
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = value.get_values()
        exact = np.asarray(numbers if element.kind is Kind.FLOAT else [_wrapped(n) for n in numbers])
        return element.round(np.broadcast_to(exact, shape).copy() if exact.size == 1 else exact.reshape(shape))
    raise InterpretationRefused("", f"expected a constant that is a number or numbers, got {value}")


def _wrapped(number: float | complex | tuple[object, ...]) -> int:
    """An integer as int64 has its bits; the attribute may be signed or not."""
    assert isinstance(number, int)
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@rule(*(f"arith.{name}" for name in INTEGER))
def _integer(frame: Frame, op: Operation) -> None:
    a, b = map(frame.array, op.operands)
    frame.set_rounded(op.results[0], INTEGER[name_of(op).removeprefix("arith.")](a, b))


@rule(*(f"arith.{name}" for name in FLOAT))
def _float(frame: Frame, op: Operation) -> None:
    a, b = map(frame.array, op.operands)
    frame.set_rounded(op.results[0], FLOAT[name_of(op).removeprefix("arith.")](a, b))


@rule("arith.negf")
def _negate(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], np.negative(frame.array(op.operands[0])))


@rule("arith.cmpi")
def _compare_integers(frame: Frame, op: Operation) -> None:
    a, b = map(frame.array, op.operands)
    frame.set_rounded(op.results[0], COMPARE_INTEGERS[_predicate(op)](a, b))


@rule("arith.cmpf")
def _compare_floats(frame: Frame, op: Operation) -> None:
    a, b = map(frame.array, op.operands)
    frame.set_rounded(op.results[0], COMPARE_FLOATS[_predicate(op)](a, b))


def _predicate(op: Operation) -> int:
    predicate = attribute(op, "predicate")
    if not isinstance(predicate, IntegerAttr):
        raise InterpretationRefused("", f"expected a predicate that is a number, got {predicate}")
    return predicate.value.data


@rule("arith.select")
def _select(frame: Frame, op: Operation) -> None:
    condition, yes, no = op.operands
    chosen = frame.array(condition)
    if chosen.ndim:
        frame.set(op.results[0], np.where(chosen, frame.array(yes), frame.array(no)))
    else:
        frame.values[op.results[0]] = frame.values[yes if chosen else no]


@rule("arith.extsi", "arith.trunci", "arith.index_cast", "arith.sitofp")
def _from_signed(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], as_signed(frame.array(op.operands[0])))


@rule("arith.extui", "arith.index_castui", "arith.uitofp")
def _from_unsigned(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], as_unsigned(frame.array(op.operands[0])))


@rule("arith.extf", "arith.truncf")
def _convert_float(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], frame.array(op.operands[0]))


@rule("arith.fptosi", "arith.fptoui")
def _to_integer(frame: Frame, op: Operation) -> None:
    """Rounds to zero; what the result cannot hold becomes the nearest that it can, and NaN zero."""
    values, element = frame.array(op.operands[0]).astype(np.float64), element_of(op.results[0].type)
    width = 1 if element.kind is Kind.BOOL else element.nbytes * 8
    signed = name_of(op) == "arith.fptosi"
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    exact = [min(max(int(v), low), high) if np.isfinite(v) else _limit(v, low, high) for v in values.reshape(-1)]
    frame.set_rounded(op.results[0], np.asarray([_wrapped(n) for n in exact], np.int64).reshape(values.shape))


def _limit(value: float, low: int, high: int) -> int:
    return 0 if np.isnan(value) else high if value > 0 else low


@rule("arith.bitcast")
def _bitcast(frame: Frame, op: Operation) -> None:
    values, result = frame.array(op.operands[0]), op.results[0]
    frame.set(result, reinterpret(values, op.operands[0].type, result.type))


def reinterpret(values: Array, source: Attribute, result: Attribute) -> Array:
    """The bits of values as values of another type, whose last dimension may be another."""
    before, after = element_of(source), element_of(result)
    if Kind.BOOL in (before.kind, after.kind) and before != after:
        raise InterpretationRefused("", f"expected elements of whole bytes to bitcast, got {source} and {result}")
    stored = np.ascontiguousarray(before.pack(values)).reshape(-1)
    return after.unpack(stored.view(after.memory)).reshape(shape_of(result))


@rule("arith.addui_extended")
def _add_extended(frame: Frame, op: Operation) -> None:
    a, b = (as_unsigned(frame.array(v)) for v in op.operands)
    total = a + b
    frame.set_rounded(op.results[0], total)
    frame.set_rounded(op.results[1], total < a)


@rule("arith.mulsi_extended", "arith.mului_extended")
def _multiply_extended(frame: Frame, op: Operation) -> None:
    """The low and the high half of the whole product."""
    view = as_signed if name_of(op) == "arith.mulsi_extended" else as_unsigned
    a, b = (view(frame.array(v)) for v in op.operands)
    width = a.dtype.itemsize * 8
    whole = [int(x) * int(y) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    for result, part in zip(op.results, (whole, [w >> width for w in whole]), strict=True):
        frame.set_rounded(result, np.asarray([_wrapped(p) for p in part], np.int64).reshape(a.shape))
