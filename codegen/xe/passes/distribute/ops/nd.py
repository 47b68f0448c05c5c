"""Blocks of matrices: descriptors and offsets of the part that one sub-group accesses.

A descriptor that has offsets, or moves, becomes its matrix and the offsets. Of sub-groups that own the same,
only the first stores: another could otherwise load the new value and store it again.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from codegen.xe.dialects.creation import insert_before
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import vector
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    BlockTdesc,
    BlockTdescAttr,
    CreateNdTdescOp,
    LoadNdOp,
    PrefetchNdOp,
    StoreNdOp,
    TensorDescType,
    UpdateNdOffsetOp,
)
from codegen.xe.dialects.xegpu.types import tensor_desc
from codegen.xe.locations import locate
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    refuse,
    said_by,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Position,
    Work,
    conditional,
    part_type,
    plain_attributes,
    plain_properties,
)

Access = LoadNdOp | StoreNdOp | PrefetchNdOp


def offsets_of(base: CreateNdTdescOp) -> int:
    """Return the number of offsets of a block: one per dimension of the matrix."""
    if isinstance(base.source.type, MemRefType):
        return base.source.type.get_num_dims()
    return len(base.mixed_shape) or _type(base.result).get_num_dims()


def _lower_create(op: CreateNdTdescOp, work: Work) -> None:
    offsets = op.mixed_offsets or (0,) * offsets_of(op)
    work.descriptors[op.result] = Position(op, offsets)
    work.dead.append(op)


def _lower_update(op: UpdateNdOffsetOp, work: Work) -> None:
    before = work.position(op, op.desc)
    work.descriptors[op.result] = Position(before.base, _moved(work, before.offsets, op.mixed_offsets))
    work.dead.append(op)


def _moved(work: Work, offsets: Sequence[Index], by: Sequence[Index]) -> tuple[Index, ...]:
    """Add offsets in the innermost dimensions."""
    outer = len(offsets) - len(by)
    return (
        *offsets[:outer],
        *(work.add(a, b) for a, b in zip(offsets[outer:], by, strict=True)),
    )


def _descriptor(work: Work, base: CreateNdTdescOp, shape: Ints) -> SSAValue:
    """Create the descriptor of a block of this shape, next to that of the work-group."""
    made = work.blocks_described.get((base, shape))
    if made is not None:
        return made
    kind = _type(base.result)
    block = kind.block
    encoding = BlockTdescAttr(BlockTdesc(block.memory_space, 1, block.boundary_check))
    plain = block.memory_space == BlockTdesc().memory_space and block.boundary_check is None
    described = tensor_desc(vector(kind.element_type, *shape), None if plain else encoding)
    attributes = plain_attributes(base)
    op = CreateNdTdescOp(base.source, described, base.mixed_shape, base.mixed_strides, attributes=attributes)
    op.result.name_hint = base.result.name_hint
    insert_before(op, base)
    locate(op, base)
    work.blocks_described[base, shape] = op.result
    return op.result


def _places(op: Access, work: Work, layout: Layout, shape: Ints) -> list[tuple[Index, ...]]:
    """Return the offsets of each block of the sub-group in the matrix."""
    position = work.position(op, op.desc)
    offsets = _moved(work, position.offsets, op.mixed_offsets)
    return [_moved(work, offsets, work.starts(layout, shape, rounds)) for rounds in layout.blocks(shape)]


def _verify(op: Access) -> None:
    kind = _type(op.desc)
    if kind.block.array_length != 1:
        raise refuse("a descriptor without array_length at work-group level", kind)
    if isinstance(op, LoadNdOp) and op.packed is not None:
        raise refuse("no packed load at work-group level", op.result.type)
    if isinstance(op, LoadNdOp) and op.transpose_bit_width is not None:
        raise refuse("no transpose_bit_width at work-group level", op.transpose_bit_width)


def _permutation(op: LoadNdOp) -> Ints | None:
    if op.transpose is None:
        return None
    assert isa(op.transpose, DenseArrayBase[IntegerType])
    return tuple(op.transpose.get_values())


def _derive_load(op: LoadNdOp, known: Known) -> Layout | None:
    shape = vector_shape(op.result)
    said = stated(op, "layout", shape) or stated(op, "layout_result_0", shape)
    if said is not None:
        return said
    of_type = said_by(_type(op.desc).layout, op, _type(op.desc).get_shape())
    permutation = _permutation(op)
    return of_type if of_type is None or permutation is None else derive.transpose_result(of_type, permutation)


def _lower_load(op: LoadNdOp, work: Work) -> None:
    _verify(op)
    layout, shape, permutation = work.layout(op.result), vector_shape(op.result), _permutation(op)
    in_memory = layout if permutation is None else derive.transpose_source(layout, permutation)
    memory_shape = _type(op.desc).get_shape()
    desc = _descriptor(work, work.position(op, op.desc).base, in_memory.data)
    places = dict(zip(in_memory.blocks(memory_shape), _places(op, work, in_memory, memory_shape), strict=True))
    parts: list[SSAValue] = []
    for rounds in layout.blocks(shape):
        block = rounds if permutation is None else tuple(rounds[permutation.index(i)] for i in range(len(rounds)))
        properties = plain_properties(op, "const_offsets")
        load = LoadNdOp(desc, places[block], properties, part_type(op.result, layout.data))
        load.attributes.update(plain_attributes(op))
        parts.append(work.insert(load).result)
    work.replace(op, parts)


def access_layout(op: Operation, desc: SSAValue, value: SSAValue | None, known: Known) -> Layout | None:
    """Return the layout of an access without a result: its own, else its descriptor's, else that of its value."""
    kind = _type(desc)
    said = stated(op, "layout", kind.get_shape()) or said_by(kind.layout, op, kind.get_shape())
    return known.get(value) if said is None and value is not None else said


def _store_operands(op: StoreNdOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return [access_layout(op, op.desc, op.value, known), *[None] * (len(op.operands) - 1)]


def _lower_store(op: StoreNdOp, work: Work) -> None:
    _verify(op)
    layout, shape = work.layout(op.value), vector_shape(op.value)
    desc = _descriptor(work, work.position(op, op.desc).base, layout.data)
    places = _places(op, work, layout, shape)
    stores: list[Operation] = []
    for part, place in zip(work.parts[op.value], places, strict=True):
        store = StoreNdOp(part, desc, place, plain_properties(op, "const_offsets"))
        store.attributes.update(plain_attributes(op))
        stores.append(store)
    conditional(work, work.is_first(layout, shape, op), stores)
    work.dead.append(op)


def _lower_prefetch(op: PrefetchNdOp, work: Work) -> None:
    _verify(op)
    shape = _type(op.desc).get_shape()
    layout = access_layout(op, op.desc, None, work.layouts) or Layout.whole(shape)
    desc = _descriptor(work, work.position(op, op.desc).base, layout.data)
    for place in _places(op, work, layout, shape):
        prefetch = PrefetchNdOp(desc, place, plain_properties(op, "const_offsets"))
        prefetch.attributes.update(plain_attributes(op))
        work.insert(prefetch)
    work.dead.append(op)


def _type(desc: SSAValue) -> TensorDescType:
    assert isinstance(desc.type, TensorDescType)
    return desc.type


BLOCKS: dict[type[Operation], Rule] = {
    CreateNdTdescOp: Rule(_lower_create),
    UpdateNdOffsetOp: Rule(_lower_update),
    LoadNdOp: Rule(_lower_load, derive=_derive_load),
    StoreNdOp: Rule(_lower_store, operands=_store_operands),
    PrefetchNdOp: Rule(_lower_prefetch),
}
