"""Reductions, products and atomic updates of values."""

from collections.abc import Callable, Sequence

import numpy as np

from codegen.xe.dialects.kinds import AtomicKind
from tests.oracle.arithmetic import (
    FLOAT,
    INTEGER,
)
from tests.oracle.elements import (
    Array,
    Element,
    Kind,
    as_signed,
    as_unsigned,
)
from tests.oracle.refusal import InterpretationRefused

_Along = Callable[[Array, tuple[int, ...]], Array]


def _exactly(function: _Along, prepare: Callable[[Array], Array]) -> _Along:
    return lambda values, axes: function(prepare(values), axes)


def _or(values: Array, axes: tuple[int, ...]) -> Array:
    return np.bitwise_or.reduce(values, axis=axes)


def _wide(values: Array) -> Array:
    """Widen values so that one rounding or wrap at the end is right."""
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)


_ALONG: dict[str, _Along] = {
    "add": _exactly(lambda v, a: np.add.reduce(v, axis=a), _wide),
    "mul": _exactly(lambda v, a: np.multiply.reduce(v, axis=a), _wide),
    "minsi": _exactly(lambda v, a: np.minimum.reduce(v, axis=a), as_signed),
    "maxsi": _exactly(lambda v, a: np.maximum.reduce(v, axis=a), as_signed),
    "minui": _exactly(lambda v, a: np.minimum.reduce(v, axis=a), as_unsigned),
    "maxui": _exactly(lambda v, a: np.maximum.reduce(v, axis=a), as_unsigned),
    "and": lambda v, a: np.bitwise_and.reduce(v, axis=a),
    "or": _or,
    "xor": lambda v, a: np.bitwise_xor.reduce(v, axis=a),
    "minnumf": lambda v, a: np.fmin.reduce(v, axis=a),
    "maxnumf": lambda v, a: np.fmax.reduce(v, axis=a),
    "minimumf": lambda v, a: np.minimum.reduce(v, axis=a),
    "maximumf": lambda v, a: np.maximum.reduce(v, axis=a),
}


def reduce(kind: str, values: Array, axes: Sequence[int], element: Element, start: Array | None = None) -> Array:
    """Combine values along axes. Floats are added and multiplied in float64 and rounded once.

    Raises:
        InterpretationRefused: the kind is not known.
    """
    if kind not in _ALONG:
        raise InterpretationRefused("", f"expected a reduction kind of {', '.join(_ALONG)}, got {kind}")
    along = _ALONG[kind]
    total = along(values, tuple(axes))
    if start is not None:
        total = along(np.stack(np.broadcast_arrays(*_alike(total, start))), (0,))
    return element.round(np.asarray(total))


def _alike(total: Array, start: Array) -> tuple[Array, Array]:
    """Return a total, which may be wider than its elements, and a start in one type."""
    return np.asarray(total), start.astype(np.asarray(total).dtype)


def product(a: Array, b: Array, c: Array | None, element: Element) -> Array:
    """Return `a @ b + c` of matrices or stacks of them: floats in float64, rounded once; integers wrap around."""
    total = _wide(a) @ _wide(b)
    return element.round(total if c is None else total + _wide(c))


_ATOMIC: dict[AtomicKind, str] = {
    AtomicKind.MAXS: "maxsi",
    AtomicKind.MAXU: "maxui",
    AtomicKind.MINS: "minsi",
    AtomicKind.MINU: "minui",
}


def update(kind: AtomicKind, old: Array, new: Array, element: Element) -> Array:
    """Return the value that an atomic update stores."""
    if kind is AtomicKind.ASSIGN:
        return new
    name = _ATOMIC.get(kind, str(kind))
    table = FLOAT if element.kind is Kind.FLOAT else INTEGER
    return element.round(np.asarray(table[name](old, new)))
