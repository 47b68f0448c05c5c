"""Reductions: registers of a lane first, then across lanes, so that all lanes have the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    chunk_type,
    element_of,
    length_of,
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
    pieces,
)
from codegen.xe.passes.lanes.vectors.shuffle_ops import numbered
from codegen.xe.passes.lanes.vectors.shuffles import convert
from codegen.xe.passes.lanes.vectors.subgroup_shuffles import shuffled
from codegen.xe.subgroup import subgroup_size

_WORD = 32
_TOGETHER = 8  # registers of a chunk that are reduced at once
_FAR = 1 << 62
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


@dataclass(frozen=True, slots=True)
class _Partial:
    """Partial results of some registers of a chunk: the result and the reduced elements of each, per lane."""

    results: Places
    elements: Sequence[Sequence[frozenset[int]]]
    chunk: SSAValue


_Row = list[tuple[Register, Places]]
"""Registers with parts of the same results, and the elements that they hold."""


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
        rows: dict[bytes, _Row] = {}
        for register, held in zip(value.registers(), value.layout.places, strict=True):
            if (held != NOTHING).any():
                rows.setdefault(_results(held, result_of).tobytes(), []).append((register, held))
        partials = [
            self._with_other_lanes(self._tree(some, result_of)) for some in self._together(rows.values(), result_of)
        ]
        wanted = np.bincount(result_of)
        for p in partials:
            for elements, results in zip(p.elements, p.results, strict=True):
                if any(len(e) not in (0, wanted[r]) for e, r in zip(elements, results, strict=True)):
                    return None
        chunks = tuple(self._narrowed(p.chunk) for p in partials)
        layout = layout_of([row for p in partials for row in p.results], [len(p.results) for p in partials])
        return Lanes(type_, layout, chunks)

    def _together(self, rows: Iterable[_Row], result_of: Places) -> Iterator[list[_Row]]:
        """Yield rows with registers of the same chunks and elements at the same distances, some at a time."""
        alike: dict[object, list[_Row]] = {}
        for row in rows:
            _, held = row[0]
            distances = [_distances(_results(held, result_of)), *(_distances(of, held) for _, of in row)]
            alike.setdefault((*(chunk for (chunk, _), _ in row), *distances), []).append(row)
        longest = _TOGETHER if self._wide or bits_of(self._element) == _WORD else 1
        for some in alike.values():
            for length in pieces(len(some), longest):
                yield some[:length]
                del some[:length]

    def _tree(self, rows: Sequence[_Row], result_of: Places) -> _Partial:
        rest = [self._partial(registers, result_of) for registers in zip(*rows, strict=True)]
        while len(rest) > 1:
            pairs = [rest[i : i + 2] for i in range(0, len(rest), 2)]
            rest = [self._both(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return rest[0]

    def _partial(self, registers: Sequence[tuple[Register, Places]], result_of: Places) -> _Partial:
        emitter = self._emitter
        chunk = emitter.chunk([register for register, _ in registers])
        if self._wide:
            chunk = emitter.as_f32(chunk)
        filled = registers[0][1] != NOTHING
        if not filled.all():
            neutral = emitter.constant(_neutral(self._kind, self._element), element_of(chunk))
            where = emitter.splat(emitter.lanes(filled.tolist()), len(registers))
            chunk = emitter.chosen(where, chunk, emitter.splat(neutral, len(registers)))
        results = np.array([_results(held, result_of) for _, held in registers])
        elements = [[frozenset([e] if e != NOTHING else []) for e in held.tolist()] for _, held in registers]
        return _Partial(results, elements, chunk)

    def _both(self, a: _Partial, b: _Partial) -> _Partial:
        elements = [
            [x | y for x, y in zip(*of_lanes, strict=True)] for of_lanes in zip(a.elements, b.elements, strict=True)
        ]
        return _Partial(a.results, elements, self.combine(a.chunk, b.chunk))

    def _with_other_lanes(self, partial: _Partial) -> _Partial:
        """Combine lanes pairwise where both have parts of the same result."""
        emitter, lanes = self._emitter, np.arange(subgroup_size())
        for bit in (1 << i for i in range(subgroup_size().bit_length() - 1)):
            other = lanes ^ bit
            elements = [[of_lanes[lane] for lane in other] for of_lanes in partial.elements]
            if (partial.results != partial.results[:, other]).any():
                continue
            if any(a & b for a, b in zip(partial.elements[0], elements[0], strict=True)):
                continue
            received = shuffled(emitter, partial.chunk, other.tolist())
            partial = self._both(partial, _Partial(partial.results, elements, received))
        return partial

    def _narrowed(self, chunk: SSAValue) -> SSAValue:
        if not self._wide:
            return chunk
        return self._emitter.value(arith.TruncFOp(chunk, chunk_type(self._element, length_of(chunk))))


def _results(held: Places, result_of: Places) -> Places:
    """Return the result of each lane's element; lanes without one take part in that of the others, if it is one."""
    filled = held != NOTHING
    results = np.where(filled, result_of[held], NOTHING)
    if not filled.all() and len(set(results[filled].tolist())) == 1:
        return np.full(subgroup_size(), results[filled][0])
    return results


def _distances(held: Places, other: Places | None = None) -> bytes:
    """Return how far numbers of lanes are from the last of them, or of others, as a key; NOTHING from nothing."""
    return np.where(held == NOTHING, _FAR, held - (held if other is None else other).max()).tobytes()


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
