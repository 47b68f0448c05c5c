"""vector.contract without DPAS: a multiplication and an addition of whole vectors per step of the reduction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, VectorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, ExtSIOp, ExtUIOp
from codegen.xe.dialects.upstream.contract import (
    ContractOp,
    IteratorType,
)
from codegen.xe.passes.lanes.emitter import (
    Emitter,
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
from codegen.xe.passes.lanes.vectors.layout import Places
from codegen.xe.passes.lanes.vectors.reductions import combine
from codegen.xe.passes.lanes.vectors.shuffles import rearrange


def _contract(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, ContractOp)
    emitter, result, element = lowering.emitter, vector_type(op.result), element_type(op.result)
    layout = lowering.layout(op.result)
    acc = lowering.vector(op.acc, layout)
    shapes = [(shape_of(v), axes) for v, axes in zip((op.lhs, op.rhs), op.maps[:2], strict=True)]
    sources = ([np.ravel_multi_index([at[d] for d in _dims(m)], shape) for shape, m in shapes] for at in _steps(op))
    a, b = (widened(emitter, lowering.vector(v), element) for v in (op.lhs, op.rhs))
    total = multiply_add(emitter, (a, b), sources, acc, str(op.kind.data))
    lowering.define(op.result, Lanes(result, layout, total.chunks))


def multiply_add(
    emitter: Emitter, sides: tuple[Lanes, Lanes], sources: Iterable[Sequence[Places]], acc: Lanes, kind: str = "add"
) -> Lanes:
    """Return `acc` combined with products: of each step's `sources`, the elements of both sides for each of its own.

    All elements are of the accumulator's type.
    """
    shape, element, total = acc.type.get_shape(), element_of(acc.chunks[0]), list(acc.chunks)
    type_ = VectorType(element, shape)
    for step in sources:
        factors = [
            rearrange(emitter, side, acc.layout, type_, np.broadcast_to(source, shape).reshape(-1)).chunks
            for side, source in zip(sides, step, strict=True)
        ]
        total = [_step(emitter, kind, a, b, c, element) for a, b, c in zip(*factors, total, strict=True)]
    return Lanes(acc.type, acc.layout, tuple(total))


def _steps(op: ContractOp) -> Iterator[list[Places]]:
    """Yield, per step of the reduction, the value of each iteration dimension for each element of the result."""
    extents: dict[int, int] = {}
    for value, axes in zip((op.lhs, op.rhs, op.acc), op.maps, strict=True):
        extents.update(zip(_dims(axes), shape_of(value), strict=True))
    reduced = [d for d, kind in enumerate(op.iterators) if kind is IteratorType.REDUCTION]
    of_result = dict(zip(_dims(op.maps[2]), np.indices(shape_of(op.result)), strict=True))
    for step in np.ndindex(*(extents[d] for d in reduced)):
        now = dict(zip(reduced, step, strict=True))
        yield [
            of_result[d] if d in of_result else np.full(shape_of(op.result), now[d]) for d in range(len(op.iterators))
        ]


def _dims(axes: AffineMap) -> Ints:
    dims = tuple(e.position for e in axes.results if isinstance(e, AffineDimExpr))
    if len(dims) != len(axes.results):
        raise PassFailedException(f"lower-to-lanes: expected maps of plain dimensions in vector.contract, got {axes}")
    return dims


def _step(emitter: Emitter, kind: str, a: SSAValue, b: SSAValue, c: SSAValue, element: Attribute) -> SSAValue:
    if kind == "add" and element == f32:
        return emitter.value(math.FmaOp(a, b, c))
    product = emitter.value((arith.MulfOp if isinstance(element, AnyFloat) else arith.MuliOp)(a, b))
    return combine(emitter, kind, c, product)


def widened(emitter: Emitter, value: Lanes, element: Attribute, *, unsigned: bool = False) -> Lanes:
    """Return a vector with its elements converted to a type that holds them all."""
    chunks = tuple(_widened(emitter, chunk, element, unsigned) for chunk in value.chunks)
    return Lanes(VectorType(element, value.type.get_shape()), value.layout, chunks)


def _widened(emitter: Emitter, chunk: SSAValue, element: Attribute, unsigned: bool) -> SSAValue:
    if element_of(chunk) == element:
        return chunk
    if not isinstance(element, AnyFloat):
        return emitter.value((ExtUIOp if unsigned else ExtSIOp)(chunk, chunk_type(element, length_of(chunk))))
    wide = emitter.as_f32(chunk) if bits_of(element_of(chunk)) < bits_of(f32) else chunk
    return wide if element == f32 else emitter.value(ExtFOp(wide, chunk_type(element, length_of(chunk))))


HANDLERS: Mapping[str, Handler] = {"vector.contract": _contract}
