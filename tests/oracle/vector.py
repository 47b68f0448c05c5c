"""The meaning of vector's operations on registers."""

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.upstream.contract import (
    ContractOp,
    IteratorType,
)
from tests.oracle.arith import reinterpret
from tests.oracle.combine import reduce
from tests.oracle.elements import (
    Array,
    Kind,
    element_of,
    shape_of,
)
from tests.oracle.frame import (
    Frame,
    attribute,
    integers,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import (
    rule,
    rule_of,
)


@rule("vector.broadcast", "vector.splat")
def _broadcast(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], np.broadcast_to(frame.array(op.operands[0]), shape_of(op.results[0].type)))


@rule("vector.transpose")
def _transpose(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], frame.array(op.operands[0]).transpose(integers(op, "permutation")))


@rule("vector.shape_cast")
def _shape_cast(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], frame.array(op.operands[0]).reshape(shape_of(op.results[0].type)))


@rule("vector.bitcast")
def _bitcast(frame: Frame, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    frame.set(result, reinterpret(frame.array(source), source.type, result.type))


@rule("vector.step")
def _step(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], np.arange(shape_of(op.results[0].type)[0], dtype=np.int64))


def _combining(op: Operation) -> str:
    kind = attribute(op, "kind")
    if kind is None:
        return "add"
    if not isinstance(kind, CombiningKindAttr):
        raise InterpretationRefused("", f"expected a #vector.kind, got {kind}")
    return str(kind.data)


@rule("vector.multi_reduction")
def _multi_reduction(frame: Frame, op: Operation) -> None:
    source, acc = map(frame.array, op.operands)
    result = op.results[0]
    total = reduce(_combining(op), source, integers(op, "reduction_dims"), element_of(result.type), acc)
    frame.set(result, total)


@rule("vector.reduction")
def _reduction(frame: Frame, op: Operation) -> None:
    source, *acc = map(frame.array, op.operands)
    result = op.results[0]
    frame.set(result, reduce(_combining(op), source, (0,), element_of(result.type), acc[0] if acc else None))


@rule("vector.extract")
def _extract(frame: Frame, op: Operation) -> None:
    source, *dynamic = op.operands
    values = frame.array(source)
    position = _position(frame, op, dynamic, values.shape)
    frame.set(op.results[0], np.asarray(values[position]))


@rule("vector.insert")
def _insert(frame: Frame, op: Operation) -> None:
    source, dest, *dynamic = op.operands
    values = frame.array(dest).copy()
    values[_position(frame, op, dynamic, values.shape)] = frame.array(source)
    frame.set(op.results[0], values)


def _position(frame: Frame, op: Operation, dynamic: list[SSAValue], shape: Ints) -> Ints:
    values = iter(dynamic)
    static = integers(op, "static_position")
    position = tuple(frame.number(next(values)) if p == DYNAMIC_INDEX else p for p in static)
    if any(not 0 <= p < n for p, n in zip(position, shape, strict=False)):
        raise KernelFault("", f"expected a position within {format_ints(shape)}, got {format_ints(position)}")
    return position


@rule("vector.extractelement")
def _extract_element(frame: Frame, op: Operation) -> None:
    source, *position = map(frame.array, op.operands)
    frame.set(op.results[0], np.asarray(source[tuple(map(int, position))]))


@rule("vector.insertelement")
def _insert_element(frame: Frame, op: Operation) -> None:
    source, dest, *position = map(frame.array, op.operands)
    values = dest.copy()
    values[tuple(map(int, position))] = source
    frame.set(op.results[0], values)


@rule("vector.extract_strided_slice")
def _extract_slice(frame: Frame, op: Operation) -> None:
    triples = zip(*(integers(op, key) for key in ("offsets", "sizes", "strides")), strict=True)
    window = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in triples)
    frame.set(op.results[0], frame.array(op.operands[0])[window])


@rule("vector.insert_strided_slice")
def _insert_slice(frame: Frame, op: Operation) -> None:
    source, dest = map(frame.array, op.operands)
    offsets, strides = integers(op, "offsets"), integers(op, "strides")
    lead = len(offsets) - source.ndim
    inner = zip(offsets[lead:], source.shape, strides, strict=True)
    values = dest.copy()
    values[(*offsets[:lead], *(slice(o, o + (n - 1) * s + 1, s) for o, n, s in inner))] = source
    frame.set(op.results[0], values)


@rule("vector.shuffle")
def _shuffle(frame: Frame, op: Operation) -> None:
    """Shuffle two vectors; a poison index selects the first element."""
    both = np.concatenate([np.atleast_1d(frame.array(v)) for v in op.operands])
    frame.set(op.results[0], both[np.maximum(integers(op, "mask"), 0)])


@rule("vector.interleave")
def _interleave(frame: Frame, op: Operation) -> None:
    pairs = np.stack([frame.array(v) for v in op.operands], axis=-1)
    frame.set(op.results[0], pairs.reshape(shape_of(op.results[0].type)))


@rule("vector.deinterleave")
def _deinterleave(frame: Frame, op: Operation) -> None:
    values = frame.array(op.operands[0])
    for start, result in enumerate(op.results):
        frame.set(result, values[..., start::2])


@rule("vector.from_elements")
def _from_elements(frame: Frame, op: Operation) -> None:
    values = np.asarray([frame.array(v) for v in op.operands])
    frame.set(op.results[0], values.reshape(shape_of(op.results[0].type)))


@rule("vector.to_elements")
def _to_elements(frame: Frame, op: Operation) -> None:
    for result, value in zip(op.results, frame.array(op.operands[0]).reshape(-1), strict=True):
        frame.set(result, np.asarray(value))


@rule("vector.create_mask")
def _create_mask(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], _mask(frame.numbers(op.operands), shape_of(op.results[0].type)))


@rule("vector.constant_mask")
def _constant_mask(frame: Frame, op: Operation) -> None:
    frame.set(op.results[0], _mask(integers(op, "mask_dim_sizes"), shape_of(op.results[0].type)))


def _mask(sizes: Ints, shape: Ints) -> Array:
    """Return a mask that is true where each index is below its size."""
    mask = np.zeros(shape, np.bool_)
    mask[tuple(slice(0, max(size, 0)) for size in sizes)] = True
    return mask


@rule("vector.outerproduct")
def _outer_product(frame: Frame, op: Operation) -> None:
    a, b, *acc = map(frame.array, op.operands)
    result = op.results[0]
    element = element_of(result.type)
    wide = np.float64 if element.kind is Kind.FLOAT else np.int64
    product = a.astype(wide)[:, None] * b.astype(wide) if b.ndim else a.astype(wide) * b.astype(wide)
    frame.set(result, reduce(_combining(op), np.stack([product, *(c.astype(wide) for c in acc)]), (0,), element))


@rule_of(ContractOp)
def _contract(frame: Frame, op: ContractOp) -> None:
    """Multiply in the whole iteration space and combine along the reduction dimensions."""
    lhs, rhs, acc = (frame.array(v) for v in (op.lhs, op.rhs, op.acc))
    element = element_of(op.result.type)
    wide = np.float64 if element.kind is Kind.FLOAT else np.int64
    a, b, c = (_dimensions(m) for m in op.maps)
    if op.kind.data == "add":
        lhs_name, rhs_name, acc_name = ("".join(chr(ord("a") + d) for d in dims) for dims in (a, b, c))
        total = np.einsum(f"{lhs_name},{rhs_name}->{acc_name}", lhs.astype(wide), rhs.astype(wide), optimize=True)
        frame.set_rounded(op.result, total + acc.astype(wide))
        return
    rank = len(op.iterators)
    products = _spread(lhs.astype(wide), a, rank) * _spread(rhs.astype(wide), b, rank)
    reduced = [d for d, kind in enumerate(op.iterators) if kind is IteratorType.REDUCTION]
    kept = [d for d in range(rank) if d not in reduced]
    start = acc.transpose([c.index(d) for d in kept])
    total = reduce(str(op.kind.data), products, reduced, element, start)
    frame.set(op.result, total.transpose([kept.index(d) for d in c]))


def _dimensions(map_: AffineMap) -> list[int]:
    return [r.position for r in map_.results if isinstance(r, AffineDimExpr)]


def _spread(values: Array, dimensions: list[int], rank: int) -> Array:
    """Return values in the rank of the iteration space, with length 1 where they do not vary."""
    order = sorted(range(len(dimensions)), key=lambda axis: dimensions[axis])
    shape = [1] * rank
    for axis in order:
        shape[dimensions[axis]] = values.shape[axis]
    return values.transpose(order).reshape(shape)
