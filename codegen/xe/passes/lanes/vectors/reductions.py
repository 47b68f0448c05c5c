"""Reductions: registers of a lane first, then across lanes, so that all lanes have the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.vector_ops import MultiReductionOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    Register,
    bits_of,
    element_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.values import (
    Lanes,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.layout import (
    NOTHING,
    Places,
    canonical,
    layout_of,
)
from codegen.xe.passes.lanes.vectors.shuffle_ops import numbered
from codegen.xe.passes.lanes.vectors.shuffles import convert
from codegen.xe.subgroup import subgroup_size

_COMBINE: Mapping[str, tuple[type[Operation], type[Operation]]] = {
    "add": (arith.AddiOp, arith.AddfOp),
    "mul": (arith.MuliOp, arith.MulfOp),
    "minsi": (arith.MinSIOp, arith.MinSIOp),
    "minui": (arith.MinUIOp, arith.MinUIOp),
    "maxsi": (arith.MaxSIOp, arith.MaxSIOp),
    "maxui": (arith.MaxUIOp, arith.MaxUIOp),
    "and": (arith.AndIOp, arith.AndIOp),
    "or": (arith.OrIOp, arith.OrIOp),
    "xor": (arith.XOrIOp, arith.XOrIOp),
    "minnumf": (arith.MinnumfOp, arith.MinnumfOp),
    "maxnumf": (arith.MaxnumfOp, arith.MaxnumfOp),
    "minimumf": (arith.MinimumfOp, arith.MinimumfOp),
    "maximumf": (arith.MaximumfOp, arith.MaximumfOp),
}


def combine(emitter: Emitter, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Combine two scalars or chunks."""
    return emitter.make(_COMBINE[kind][isinstance(element_of(a), AnyFloat)], (a, b), a.type)


def _multi_reduction(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, MultiReductionOp)
    shape, kept = shape_of(op.source), [d for d in range(len(shape_of(op.source))) if d not in op.dims]
    result = shape_of(op.dest)
    along = [1 if d in op.dims else n for d, n in enumerate(shape)]
    result_of = np.broadcast_to(numbered(tuple(shape[d] for d in kept)).reshape(along), shape).reshape(-1)
    _reduce(lowering, op.source, op.dest, op.acc, str(op.kind.data), result_of, result)


def _reduction(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, xvector.ReductionOp)
    result_of = np.zeros(prod(shape_of(op.vector)), np.int64)
    _reduce(lowering, op.vector, op.dest, op.acc, str(op.kind.data), result_of, ())


def _reduce(
    lowering: Lowering,
    source: SSAValue,
    dest: SSAValue,
    acc: SSAValue | None,
    kind: str,
    result_of: Places,
    result: Ints,
) -> None:
    emitter, element = lowering.emitter, element_type(source)
    reducer, type_ = _Reducer(emitter, kind, element), VectorType(element, result)
    reduced = reducer.reduce(lowering.vector(source), result_of, type_)
    if reduced is None:
        reduced = reducer.reduce(lowering.vector(source, canonical(shape_of(source))), result_of, type_)
    assert reduced is not None  # canonical copies cover all or none of two lanes' elements
    if not isinstance(dest.type, VectorType):
        scalar = reduced.chunks[0]
        lowering.define(dest, scalar if acc is None else reducer.combine(scalar, lowering.scalar(acc)))
        return
    layout = lowering.layout(dest)
    chunks = convert(emitter, reduced, layout).chunks
    if acc is not None:
        pairs = zip(chunks, lowering.vector(acc, layout).chunks, strict=True)
        chunks = tuple(reducer.combine(a, b) for a, b in pairs)
    lowering.define(dest, Lanes(vector_type(dest), layout, chunks))


@dataclass(slots=True)
class _Partial:
    """A register of partial results: the result and the reduced elements, per lane."""

    results: Places
    elements: list[frozenset[int]]
    scalar: SSAValue

    def spread(self) -> bytes:
        """Return a key that is equal for registers that may be combined."""
        return self.results.tobytes()


class _Reducer:
    """Combines elements; 16-bit floats in f32, so that only the result is rounded."""

    def __init__(self, emitter: Emitter, kind: str, element: Attribute) -> None:
        self._emitter, self._kind, self._element = emitter, kind, element
        rounds = kind in ("add", "mul")
        self._wide = isinstance(element, BFloat16Type) or (rounds and isinstance(element, Float16Type))

    def combine(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Combine two scalars or chunks."""
        return combine(self._emitter, self._kind, a, b)

    def reduce(self, value: Lanes, result_of: Places, type_: VectorType[Attribute]) -> Lanes | None:
        """Return the vector whose element `result_of[e]` combines each element e of `value`.

        None if lanes hold copies such that combining them would count some twice.
        """
        groups: dict[bytes, list[_Partial]] = {}
        for register, held in zip(value.registers(), value.layout.places, strict=True):
            if (held != NOTHING).any():
                partial = self._partial(register, held, result_of)
                groups.setdefault(partial.spread(), []).append(partial)
        partials = [self._with_other_lanes(self._tree(group)) for group in groups.values()]
        wanted = np.bincount(result_of)
        if any(len(e) not in (0, wanted[r]) for p in partials for e, r in zip(p.elements, p.results, strict=True)):
            return None
        scalars = [self._narrowed(p.scalar) for p in partials]
        return Lanes(type_, layout_of([p.results for p in partials], [1] * len(partials)), tuple(scalars))

    def _partial(self, register: Register, held: Places, result_of: Places) -> _Partial:
        emitter = self._emitter
        scalar = emitter.register(register)
        if self._wide:
            scalar = emitter.as_f32(scalar)
        filled = held != NOTHING
        results = np.where(filled, result_of[held], NOTHING)
        if not filled.all():
            neutral = emitter.constant(_neutral(self._kind, self._element), scalar.type)
            scalar = emitter.value(arith.SelectOp(emitter.lanes(filled.tolist()), scalar, neutral))
            if len(set(results[filled].tolist())) == 1:  # lanes without elements participate, too
                results = np.full(subgroup_size(), results[filled][0])
        elements = [frozenset([e] if e != NOTHING else []) for e in held.tolist()]
        return _Partial(results, elements, scalar)

    def _tree(self, partials: Sequence[_Partial]) -> _Partial:
        rest = list(partials)
        while len(rest) > 1:
            pairs = [rest[i : i + 2] for i in range(0, len(rest), 2)]
            rest = [self._both(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return rest[0]

    def _both(self, a: _Partial, b: _Partial) -> _Partial:
        elements = [x | y for x, y in zip(a.elements, b.elements, strict=True)]
        return _Partial(a.results, elements, self.combine(a.scalar, b.scalar))

    def _with_other_lanes(self, partial: _Partial) -> _Partial:
        """Combine lanes pairwise where both have parts of the same result."""
        emitter, lanes = self._emitter, np.arange(subgroup_size())
        for bit in (1 << i for i in range(subgroup_size().bit_length() - 1)):
            other = lanes ^ bit
            elements = [partial.elements[lane] for lane in other]
            if (partial.results != partial.results[other]).any():
                continue
            if any(a & b for a, b in zip(partial.elements, elements, strict=True)):
                continue
            received = emitter.shuffled(partial.scalar, other.tolist())
            partial = self._both(partial, _Partial(partial.results, elements, received))
        return partial

    def _narrowed(self, scalar: SSAValue) -> SSAValue:
        return self._emitter.value(arith.TruncFOp(scalar, self._element)) if self._wide else scalar


def _neutral(kind: str, element: Attribute) -> int | float:
    """Return the neutral element."""
    width = bits_of(element)
    least, most = (-inf, inf) if isinstance(element, AnyFloat) else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    if kind.startswith("min"):
        return -1 if kind == "minui" else most
    if kind.startswith("max"):
        return 0 if kind == "maxui" else least
    return {"mul": 1, "and": -1}.get(kind, 0)


HANDLERS: Mapping[str, Handler] = {
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
}
