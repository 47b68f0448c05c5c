"""LLVM's reductions of the elements of a vector."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.values import (
    Array,
    unsigned,
)

_FOLDS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "smax": np.maximum,
    "smin": np.minimum,
    "umax": np.maximum,
    "umin": np.minimum,
    "fadd": np.add,
    "fmul": np.multiply,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmaximum": np.maximum,
    "fminimum": np.minimum,
}


def reduce_vector(call: Call, kind: str) -> Array:
    """Reduce the elements of the last operand in order; fadd and fmul start with the first operand."""
    fold = _FOLDS.get(kind)
    if fold is None:
        raise call.refuse(f"reduction {kind} is not known")
    values = [unsigned(v) if kind in ("umax", "umin") else v for v in call.operands]
    elements = list(np.moveaxis(values[-1], -1, 0))
    if len(values) == 2:
        elements.insert(0, values[0])
    out = elements[0]
    for element in elements[1:]:
        out = fold(out, element)
    return np.ascontiguousarray(out).view(call.instruction.type.dtype)
