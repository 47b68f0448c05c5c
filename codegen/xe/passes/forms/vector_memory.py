"""Expands loads and stores of vectors, which are blocks of a memref, to XeGPU's block accesses."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import IndexType, MemRefType, StridedLayoutAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp
from codegen.xe.dialects.xegpu import (
    BlockTdesc,
    BlockTdescAttr,
    CreateNdTdescOp,
    LoadNdOp,
    MemorySpace,
    StoreNdOp,
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
