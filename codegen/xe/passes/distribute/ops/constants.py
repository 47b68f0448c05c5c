"""Vectors without input data: constants, vector.step, masks, splats. They are recomputed in any layout."""

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    PackableType,
    VectorType,
)
from xdsl.dialects.vector import CreateMaskOp
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.creation import create
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import splat, vector
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_ops import (
    CmpiOp,
    SelectOp,
)
from codegen.xe.dialects.upstream.vector_ops import (
    ConstantMaskOp,
    FromElementsOp,
    StepOp,
)
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    refuse,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import Work


def _derive(op: Operation, known: Known) -> Layout | None:
    return stated(op, "layout_result_0", vector_shape(op.results[0]))


def _lower_constant(op: arith.ConstantOp, work: Work) -> None:
    if not isinstance(op.value, DenseIntOrFPElementsAttr):
        raise refuse("a dense constant", op.value)
    kind = cast(VectorType, op.result.type)
    layout, shape = work.layout(op.result), kind.get_shape()
    size = cast(PackableType[Any], kind.element_type).compile_time_size
    data = op.value.data.data
    if data == data[:size] * (len(data) // size):
        of_part = vector(kind.element_type, *layout.data)
        part = work.insert(_constant(of_part, splat(of_part, data[:size]))).result
        work.replace(op, [part] * len(work.blocks(op.result)))
        return
    elements = [data[i : i + size] for i in range(0, len(data), size)]
    subgroups = work.subgroups_at(op)
    starts = [list(layout.starts(shape, s)) for s in subgroups]
    work.replace(
        op,
        [
            _chosen(work, op, [_cut(elements, shape, own[block], layout.data) for own in starts])
            for block in range(len(work.blocks(op.result)))
        ],
    )


def _chosen(work: Work, op: arith.ConstantOp, blocks: list[bytes]) -> SSAValue:
    """Select the block of this sub-group among those of all."""
    layout, kind = work.layout(op.result), cast(VectorType, op.result.type)
    part = VectorType(kind.element_type, layout.data)
    subgroups = work.subgroups_at(op)
    chosen = work.insert(_constant(part, _dense(part, blocks[0]))).result
    owners: dict[bytes, list[Ints]] = {}
    for subgroup, block in zip(subgroups, blocks, strict=True):
        coordinates = layout.coordinates(kind.get_shape(), subgroup)
        if coordinates not in owners.setdefault(block, []):
            owners[block].append(coordinates)
    for block, places in owners.items():
        if block == blocks[0]:
            continue
        here: SSAValue | None = None
        for place in places:
            one = _is_at(work, layout, kind.get_shape(), place)
            here = one if here is None else work.insert(arith.OrIOp(here, one)).result
        assert here is not None
        other = work.insert(_constant(part, _dense(part, block))).result
        chosen = work.insert(SelectOp(here, other, chosen)).result
    return chosen


def _is_at(work: Work, layout: Layout, shape: Ints, place: Ints) -> SSAValue:
    """Compare the coordinates of this sub-group with given ones."""
    found: SSAValue | None = None
    for axis, extent, number in zip(layout.axes, shape, place, strict=True):
        coordinate = work.coordinate(axis, extent, layout.first)
        if isinstance(coordinate, int):
            continue
        same = work.insert(CmpiOp(coordinate, work.constant(number), "eq")).result
        found = same if found is None else work.insert(arith.AndIOp(found, same)).result
    assert found is not None  # blocks differ, so some dimension is distributed
    return found


def _cut(elements: list[bytes], shape: Ints, starts: Ints, data: Ints) -> bytes:
    """Return the bytes of a block of a constant, row-major."""
    positions = [0]
    for extent, start, size in zip(shape, starts, data, strict=True):
        positions = [p * extent + start + i for p in positions for i in range(size)]
    return b"".join(elements[p] for p in positions)


def _constant(kind: VectorType, value: DenseIntOrFPElementsAttr) -> arith.ConstantOp:
    return create(arith.ConstantOp, (), (kind,), {"value": value})


def _dense(kind: VectorType, data: bytes) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr(cast(Any, kind), BytesAttr(data))


def _lower_step(op: StepOp, work: Work) -> None:
    layout, shape = work.layout(op.result), vector_shape(op.result)
    kind = VectorType(IndexType(), layout.data)
    steps = work.insert(StepOp(kind)).result
    parts: list[SSAValue] = []
    for rounds in work.blocks(op.result):
        (start,) = work.starts(layout, shape, rounds)
        moved = steps if start == 0 else _plus(work, steps, start, layout.data)
        parts.append(moved)
    work.replace(op, parts)


def _plus(work: Work, vector: SSAValue, start: Index, shape: Ints) -> SSAValue:
    return work.insert(arith.AddiOp(vector, work.splat(work.value(start), shape))).result


def _lower_mask(op: CreateMaskOp | ConstantMaskOp, work: Work) -> None:
    result = op.results[0]
    layout, shape = work.layout(result), vector_shape(result)
    bounds: list[Index] = (
        list(op.mask_dim_sizes) if isinstance(op, CreateMaskOp) else list(op.mask_dim_sizes.get_values())
    )
    parts: list[SSAValue] = []
    for rounds in work.blocks(result):
        starts = work.starts(layout, shape, rounds)
        sizes: list[Operation | SSAValue] = [
            _left(work, *entry) for entry in zip(bounds, starts, layout.data, strict=True)
        ]
        kind: Attribute = VectorType(cast(VectorType, result.type).element_type, layout.data)
        parts.append(work.insert(CreateMaskOp(sizes, cast(Any, kind))).mask_vector)
    work.replace(op, parts)


def _left(work: Work, bound: Index, start: Index, data: int) -> SSAValue:
    """Return the number of elements of a block below a bound."""
    if isinstance(bound, int) and isinstance(start, int):
        return work.constant(min(max(bound - start, 0), data))
    left = work.insert(arith.SubiOp(work.value(bound), work.value(start))).result
    left = work.insert(arith.MaxSIOp(left, work.constant(0))).result
    return work.insert(arith.MinSIOp(left, work.constant(data))).result


def _derive_whole(op: FromElementsOp, known: Known) -> Layout | None:
    return Layout.whole(vector_shape(op.dest))


def _lower_from_elements(op: FromElementsOp, work: Work) -> None:
    part = work.insert(FromElementsOp(list(op.elements), op.dest.type)).dest
    work.replace(op, [part])


CONSTANTS: dict[type[Operation], Rule] = {
    arith.ConstantOp: Rule(_lower_constant, derive=_derive, recomputed=True),
    StepOp: Rule(_lower_step, derive=_derive, recomputed=True),
    CreateMaskOp: Rule(_lower_mask, derive=_derive, recomputed=True),
    ConstantMaskOp: Rule(_lower_mask, derive=_derive, recomputed=True),
    FromElementsOp: Rule(_lower_from_elements, derive=_derive_whole),
}
