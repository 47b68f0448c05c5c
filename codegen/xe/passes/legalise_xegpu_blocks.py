"""Offsets of blocks to their accesses: one descriptor for each matrix and kind of block, without offsets."""

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntAttr, MemRefType, ModuleOp, StridedLayoutAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import (
    Index,
    index,
)
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu import (
    CreateNdTdescOp,
    LoadNdOp,
    MemorySpace,
    PrefetchNdOp,
    StoreNdOp,
    TensorDescType,
    UpdateNdOffsetOp,
)
from codegen.xe.dialects.xegpu.types import (
    bits,
    row_major,
)
from codegen.xe.passes.fold_offsets import (
    Place,
    Placed,
    add,
    as_value,
    fold_places,
)

_Access = LoadNdOp | StoreNdOp | PrefetchNdOp
_UNCHECKED = 2**31 - 1  # elements of a matrix of one dimension whose end nobody checks


class PlacedBlock(Placed):
    """Descriptors of blocks, which create_nd_tdesc makes and update_nd_offset moves."""

    flag = "legalise-xegpu"
    noun = "descriptor"
    makers = "create_nd_tdesc, update_nd_offset"

    def holds(self, type_: Attribute) -> bool:
        return isinstance(type_, TensorDescType) and type_.scatter is None

    def place(self, op: Operation) -> Place | None:
        if not isinstance(op, CreateNdTdescOp):
            return None
        return op.mixed_offsets or (0,) * _rank(op)

    def move(self, op: Operation, rank: int) -> tuple[SSAValue, Place] | None:
        return (op.desc, _padded(op.mixed_offsets, rank)) if isinstance(op, UpdateNdOffsetOp) else None

    def matches(self, one: Operation, other: Operation) -> bool:
        return isinstance(one, CreateNdTdescOp) and isinstance(other, CreateNdTdescOp) and _key(one) == _key(other)

    def at(self, op: Operation, place: Place) -> Operation:
        assert isinstance(op, CreateNdTdescOp)
        return CreateNdTdescOp(op.source, op.result.type, op.mixed_shape, op.mixed_strides, place)


_Key = tuple[SSAValue, TensorDescType, Place, Place]


def legalise_blocks(module: ModuleOp) -> None:
    """Apply the step.

    Raises:
        PassFailedException: a descriptor of unknown origin that is moved, or a block that the pinned MLIR lacks.
    """
    fold_places(module.body.block, PlacedBlock())
    _visit(module.body.block, {})
    for op in reversed(tuple(module.walk())):
        if isinstance(op, CreateNdTdescOp) and not op.result.uses:
            Rewriter.erase_op(op)


def _visit(block: Block, made: dict[tuple[_Key, Place], SSAValue]) -> None:
    """`made` holds the descriptors that were made before in this block and in those around it."""
    for op in tuple(block.ops):
        if isinstance(op, CreateNdTdescOp):
            _verify_block(op)
            leading = _leading(op.mixed_offsets or (0,) * _rank(op), op.result.type)
            _descriptor(op, leading, InsertPoint.before(op), made)
        elif isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp):
            _place_access(op, made)
        for region in op.regions:
            for inner in region.blocks:
                _visit(inner, dict(made))


def _place_access(op: _Access, made: dict[tuple[_Key, Place], SSAValue]) -> None:
    create = op.desc.owner
    if not isinstance(create, CreateNdTdescOp):
        desc = op.desc.type
        if not op.mixed_offsets or (isinstance(desc, TensorDescType) and desc.layout is not None):
            source = create.name if isinstance(create, Operation) else "a block argument"
            raise PassFailedException(
                f"legalise-xegpu: expected a descriptor from create_nd_tdesc, or one without layout and with offsets "
                f"here, got one from {source}"
            )
        return
    rank, where = _rank(create), InsertPoint.before(op)
    parts = zip(create.mixed_offsets or (0,) * rank, _padded(op.mixed_offsets, rank), strict=True)
    total = tuple(add(a, b, where) for a, b in parts)
    dims = create.result.type.get_num_dims()
    desc = _descriptor(create, _leading(total, create.result.type), where, made)
    _replace_access(op, desc, total[rank - dims :])


def _replace_access(op: _Access, desc: SSAValue, offsets: Place) -> None:
    properties = {k: v for k, v in op.properties.items() if k != "const_offsets"}
    layout = op.desc.type.layout if isinstance(op.desc.type, TensorDescType) else None
    if layout is not None and "layout" not in properties:
        properties["layout"] = layout
    if isinstance(op, LoadNdOp):
        new = LoadNdOp(desc, offsets, properties, op.result.type)
        new.result.name_hint = op.result.name_hint
    elif isinstance(op, StoreNdOp):
        new = StoreNdOp(op.value, desc, offsets, properties)
    else:
        new = PrefetchNdOp(desc, offsets, properties)
    new.attributes = op.attributes
    Rewriter.replace_op(op, new)


def _descriptor(
    create: CreateNdTdescOp, leading: Place, where: InsertPoint, made: dict[tuple[_Key, Place], SSAValue]
) -> SSAValue:
    """The descriptor without offsets of the matrix at the leading offsets."""
    key = _key(create), leading
    if key not in made:
        plain = TensorDescType(create.result.type.vector_type, create.result.type.block_attr)
        shape, strides = create.mixed_shape, create.mixed_strides
        source = create.source
        if any(offset != 0 for offset in leading):
            source, shape, strides = _submatrix(create, leading, where)
        elif not isinstance(source.type, MemRefType) and not shape:
            shape, strides = (_UNCHECKED,), (1,)
        new = CreateNdTdescOp(source, plain, shape, strides, attributes=create.attributes)
        new.result.name_hint = create.result.name_hint
        Rewriter.insert_op(new, where)
        made[key] = new.result
    return made[key]


def _submatrix(create: CreateNdTdescOp, leading: Place, where: InsertPoint) -> tuple[SSAValue, Place, Place]:
    """The address, shape and strides of what lies at the leading offsets of a matrix of more dimensions."""
    dims = create.result.type.get_num_dims()
    shape, strides = _extent(create)
    nbytes = bits(create.result.type.element_type) // 8
    address = _address(create.source, where)
    for offset, stride in zip(leading, strides, strict=False):
        step = _times(_times(offset, stride, where), nbytes, where)
        address = add(address, step, where)
    cast = arith.IndexCastOp(as_value(address, where), i64)
    Rewriter.insert_op(cast, where)
    return cast.result, shape[-dims:], strides[-dims:]


def _extent(create: CreateNdTdescOp) -> tuple[Place, Place]:
    """Shape and strides of the matrix, as given or as its type says them."""
    if create.mixed_shape:
        return create.mixed_shape, create.mixed_strides
    source = create.source.type
    assert isinstance(source, MemRefType)  # the verifier wants a shape with an address of more dimensions
    shape = source.get_shape()
    if isinstance(source.layout, StridedLayoutAttr):
        strides = tuple(s.data for s in source.layout.strides if isinstance(s, IntAttr))
        if len(strides) != len(shape):
            raise PassFailedException(f"legalise-xegpu: expected known strides to find a part of {source}, got others")
        return shape, strides
    return shape, row_major(shape)


def _address(source: SSAValue, where: InsertPoint) -> SSAValue:
    """The address of a matrix as an index."""
    if isinstance(source.type, MemRefType):
        layout = source.type.layout
        if isinstance(layout, StridedLayoutAttr) and layout.offset != IntAttr(0):
            raise PassFailedException(
                f"legalise-xegpu: expected a memref without an offset of its own, got {source.type}"
            )
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(source)
        Rewriter.insert_op(pointer, where)
        return pointer.aligned_pointer
    if source.type != i64:
        raise PassFailedException(f"legalise-xegpu: expected an address of type i64 to add to, got {source.type}")
    cast = arith.IndexCastOp(source, index)
    Rewriter.insert_op(cast, where)
    return cast.result


def _times(a: Index, b: Index, where: InsertPoint) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1 or b == 1:
        return b if a == 1 else a
    product = arith.MuliOp(as_value(a, where), as_value(b, where))
    Rewriter.insert_op(product, where)
    return product.result


def _verify_block(create: CreateNdTdescOp) -> None:
    desc = create.result.type
    if desc.memory_space is MemorySpace.SLM and desc.get_num_dims() > 1:
        raise PassFailedException(
            f"legalise-xegpu: expected a block of one dimension in shared local memory, "
            f"got {format_ints(desc.get_shape())}"
        )


def _key(create: CreateNdTdescOp) -> _Key:
    return create.source, create.result.type, create.mixed_shape, create.mixed_strides


def _rank(create: CreateNdTdescOp) -> int:
    """Dimensions of the matrix."""
    source = create.source.type
    return source.get_num_dims() if isinstance(source, MemRefType) else len(create.mixed_shape) or 1


def _leading(place: Place, desc: TensorDescType) -> Place:
    return place[: len(place) - desc.get_num_dims()]


def _padded(offsets: Place, rank: int) -> Place:
    """Offsets of the last dimensions as offsets of all."""
    return (0,) * (rank - len(offsets)) + offsets
