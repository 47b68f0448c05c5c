"""The meaning of the index dialect's operations, arith's on index, and of affine maps."""

import numpy as np
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from tests.oracle.arithmetic import INTEGER
from tests.oracle.elements import (
    as_signed,
    as_unsigned,
)
from tests.oracle.frame import (
    Frame,
    attribute,
    name_of,
)
from tests.oracle.registry import (
    rule,
    rule_of,
)

_BINARY = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    "divu": "divui",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "floordivs": "floordivsi",
    "rems": "remsi",
    "remu": "remui",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}


@rule("index.constant")
def _constant(frame: Frame, op: Operation) -> None:
    value = attribute(op, "value")
    assert isinstance(value, IntegerAttr)  # its verifier
    frame.set(op.results[0], np.asarray(value.value.data, np.int64))


@rule(*(f"index.{name}" for name in _BINARY))
def _binary(frame: Frame, op: Operation) -> None:
    a, b = map(frame.array, op.operands)
    frame.set_rounded(op.results[0], INTEGER[_BINARY[name_of(op).removeprefix("index.")]](a, b))


@rule_of(ApplyOp)
def _apply(frame: Frame, op: ApplyOp) -> None:
    """An affine map of indices, in Python's integers: division rounds down, and remainders are not negative."""
    numbers, dims = frame.numbers(op.mapOperands), op.map.data.num_dims
    (result,) = op.map.data.eval(numbers[:dims], numbers[dims:])
    frame.set(op.result, np.asarray(result, np.int64))


@rule("index.casts")
def _cast_signed(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], as_signed(frame.array(op.operands[0])))


@rule("index.castu")
def _cast_unsigned(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], as_unsigned(frame.array(op.operands[0])))
