"""Matrices in shared local memory: each sub-group loads and stores its own part. Descriptors are not changed."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.xegpu import (
    LoadMatrixOp,
    StoreMatrixOp,
)
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Work,
    conditional,
    part_type,
    plain_attributes,
    plain_properties,
)


def _derive_load(op: LoadMatrixOp, known: Known) -> Layout | None:
    shape = vector_shape(op.result)
    return stated(op, "layout", shape) or stated(op, "layout_result_0", shape)


def _lower_load(op: LoadMatrixOp, work: Work) -> None:
    layout = work.layout(op.result)
    parts: list[SSAValue] = []
    for place in _places(op, work, op.result):
        properties = plain_properties(op, "const_offsets")
        load = LoadMatrixOp(op.mem_desc, place, part_type(op.result, layout.data), properties)
        load.attributes.update(plain_attributes(op))
        parts.append(work.insert(load).result)
    work.replace(op, parts)


def _store_operands(op: StoreMatrixOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    said = stated(op, "layout", vector_shape(op.value)) or known.get(op.value)
    return [said, *[None] * (len(op.operands) - 1)]


def _lower_store(op: StoreMatrixOp, work: Work) -> None:
    stores: list[Operation] = []
    for part, place in zip(work.parts[op.value], _places(op, work, op.value), strict=True):
        store = StoreMatrixOp(part, op.mem_desc, place, plain_properties(op, "const_offsets"))
        store.attributes.update(plain_attributes(op))
        stores.append(store)
    conditional(work, work.is_first(work.layout(op.value), vector_shape(op.value), op), stores)
    work.dead.append(op)


def _places(op: LoadMatrixOp | StoreMatrixOp, work: Work, value: SSAValue) -> list[list[Index]]:
    """Return the offsets of each block of the sub-group in the matrix."""
    layout, shape = work.layout(value), vector_shape(value)
    offsets = op.mixed_offsets
    outer = len(offsets) - len(shape)
    return [
        [*offsets[:outer], *(work.add(o, s) for o, s in zip(offsets[outer:], starts, strict=True))]
        for starts in (work.starts(layout, shape, rounds) for rounds in layout.blocks(shape))
    ]


MATRICES: dict[type[Operation], Rule] = {
    LoadMatrixOp: Rule(_lower_load, derive=_derive_load),
    StoreMatrixOp: Rule(_lower_store, operands=_store_operands),
}
