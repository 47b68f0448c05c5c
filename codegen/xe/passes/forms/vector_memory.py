"""Expands loads and stores of vectors to XeGPU's: of blocks of a memref, and of elements at indices."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import IndexType, MemRefType, StridedLayoutAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp
from codegen.xe.dialects.upstream.arith_ops import SelectOp
from codegen.xe.dialects.upstream.vector_gather import GatherOp, ScatterOp
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp
from codegen.xe.dialects.xegpu import (
    BlockTdesc,
    BlockTdescAttr,
    CreateNdTdescOp,
    LoadNdOp,
    LoadOp,
    MemorySpace,
    StoreNdOp,
    StoreOp,
    TensorDescType,
)
from codegen.xe.dialects.xegpu.verify import space_of
from codegen.xe.passes.expand_subgroup_threads import counts_subgroups

_RANK = 2  # of a block
_OF_WORK_ITEMS = gpu.LaneIdOp, gpu.ThreadIdOp, gpu.GlobalIdOp
_OF_SUBGROUPS = arith.DivUIOp, arith.DivSIOp, arith.FloorDivSIOp, arith.ShRUIOp, arith.ShRSIOp


def load(to: Builder, op: vector.LoadOp) -> Sequence[SSAValue]:
    """Load a block; leading dimensions of 1 are added afterwards."""
    desc = _block(to, op, op.base, op.result.type)
    loaded = to.insert(LoadNdOp(desc, tuple(op.indices), {}, desc.type.vector_type)).result
    if loaded.type == op.result.type:
        return (loaded,)
    return to.insert(ShapeCastOp(loaded, op.result.type)).results


def store(to: Builder, op: vector.StoreOp) -> Sequence[SSAValue]:
    """Store a block; leading dimensions of 1 are removed before."""
    desc = _block(to, op, op.base, op.vector.type)
    value = op.vector
    if value.type != desc.type.vector_type:
        value = to.insert(ShapeCastOp(value, desc.type.vector_type)).result
    to.insert(StoreNdOp(value, desc, tuple(op.indices), {})).attributes.update(op.attributes)
    return ()


def gather(to: Builder, op: GatherOp) -> Sequence[SSAValue]:
    """Load the elements that the mask takes, and take the others from `pass_thru`."""
    pointer, indices = _elements(to, op, op.base, op.offsets, op.indices)
    loaded = to.insert(LoadOp(pointer, indices, op.mask, op.result.type)).result
    return to.insert(SelectOp(op.mask, loaded, op.pass_thru)).results


def scatter(to: Builder, op: ScatterOp) -> Sequence[SSAValue]:
    """Store the elements that the mask takes."""
    pointer, indices = _elements(to, op, op.base, op.offsets, op.indices)
    to.insert(StoreOp(op.value, pointer, indices, op.mask))
    return ()


def _elements(
    to: Builder, op: Operation, base: SSAValue, offsets: Sequence[SSAValue], indices: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Return the address of a memref, and the elements from there on."""
    type_ = base.type
    if not isinstance(type_, MemRefType) or space_of(type_) is MemorySpace.SLM:
        raise PassFailedException(f"rewrite-forms: {op.name}: expected a memref in global memory, got {type_}")
    data = to.insert(memref.ExtractStridedMetaDataOp(base))
    pointer = to.insert(memref.ExtractAlignedPointerAsIndexOp.get(base)).aligned_pointer
    first: SSAValue = data.offset
    for offset, stride in zip(offsets, data.strides, strict=True):
        step = to.insert(arith.MuliOp(offset, stride)).result
        first = to.insert(arith.AddiOp(first, step)).result
    assert isinstance(indices.type, VectorType)
    wide = VectorType(IndexType(), indices.type.get_shape())
    if indices.type != wide:
        indices = to.insert(IndexCastOp(indices, wide)).result
    last = to.insert(vector.BroadcastOp(data.strides[-1], wide)).vector
    start = to.insert(vector.BroadcastOp(first, wide)).vector
    places = to.insert(arith.AddiOp(to.insert(arith.MuliOp(indices, last)).result, start)).result
    return to.insert(arith.IndexCastOp(pointer, i64)).result, places


def _differs(value: SSAValue) -> bool:
    """True if a number follows from the id of a work-item, and no division leaves that of its sub-group."""
    owner = value.owner
    if not isinstance(owner, Operation) or isinstance(owner, _OF_SUBGROUPS):
        return False
    if isinstance(owner, _OF_WORK_ITEMS):
        function = owner.parent_op()
        while function is not None and not isinstance(function, gpu.FuncOp):
            function = function.parent_op()
        return function is None or not counts_subgroups(function)
    return any(map(_differs, owner.operands))


def _block(to: Builder, op: Operation, base: SSAValue, value: Attribute) -> SSAValue[TensorDescType]:
    """Describe the blocks of a memref of a vector's shape."""
    type_ = base.type
    assert isinstance(type_, MemRefType)
    assert isinstance(value, VectorType)
    shape = value.get_shape()
    if any(_differs(index) for index in op.operands if index is not base and isinstance(index.type, IndexType)):
        raise PassFailedException(
            f"rewrite-forms: {op.name}: expected the same place in all work-items of a sub-group, got one that follows "
            "from a work-item's id: access memory with xegpu.load and xegpu.store, or memref.load and memref.store"
        )
    layout = type_.layout
    strides = layout.get_strides() if isinstance(layout, StridedLayoutAttr) else type_.get_strides()
    if any(extent != 1 for extent in shape[:-_RANK]) or not shape or len(shape) > type_.get_num_dims():
        raise PassFailedException(
            f"rewrite-forms: {op.name}: expected a block of one or two dimensions of {type_}, got {value}"
        )
    if strides is None or strides[-1] != 1:
        raise PassFailedException(f"rewrite-forms: {op.name}: expected a memref whose rows are contiguous, got {type_}")
    block = VectorType(value.element_type, shape[-_RANK:] if len(shape) > 1 else shape)
    local = space_of(type_) is MemorySpace.SLM
    encoding = BlockTdescAttr(BlockTdesc(MemorySpace.SLM)) if local else None
    extent: tuple[Sequence[SSAValue | int], Sequence[SSAValue | int]] = (), ()
    if not type_.has_static_shape() or None in strides:
        data = to.insert(memref.ExtractStridedMetaDataOp(base))
        sizes = [data.sizes[i] if n < 0 else n for i, n in enumerate(type_.get_shape())]
        extent = sizes, [data.strides[i] if n is None else n for i, n in enumerate(strides)]
    return to.insert(CreateNdTdescOp(base, TensorDescType(block, encoding), *extent)).result
