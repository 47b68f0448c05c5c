"""Tiles in shared local memory: buffers of bytes, and matrices in them."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, NoneAttr, VectorType, i8, i64
from xdsl.dialects.memref import AllocaOp, AllocOp, DeallocOp, ViewOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.memref_ops import TransposeOp
from codegen.xe.dialects.xegpu import (
    CreateMemDescOp,
    MemDescType,
    MemLayout,
    MemLayoutAttr,
)
from codegen.xe.dialects.xegpu.types import bytes_of
from codegen.xe.dialects.xetile import InitTileOp
from codegen.xe.dialects.xetile.tile_attr import SHARED_LOCAL_MEMORY
from codegen.xe.locations import Rewriting, locate
from codegen.xe.passes.xetile_to_xegpu.base import stored_strides
from codegen.xe.passes.xetile_to_xegpu.values import (
    add,
    multiply,
)


def allocate_statically(module: ModuleOp) -> None:
    """Make allocations in shared local memory static: they are never freed, and MLIR would call malloc."""
    for op in tuple(walk(module)):
        if type(op) is AllocOp and _is_local(op.memref.type):
            name, memref = op.memref.name_hint, op.memref.type
            new = AllocaOp.get(
                memref.element_type, None, memref.get_shape(), layout=memref.layout, memory_space=memref.memory_space
            )
            new.memref.name_hint = name
            Rewriter.replace_op(op, new)
        elif type(op) is DeallocOp and _is_local(op.memref.type):
            Rewriter.erase_op(op)


def create_mem_descs(inits: Sequence[InitTileOp]) -> dict[InitTileOp, SSAValue]:
    """Return the matrices in shared local memory of tiles, each described once, at its buffer's definition.

    Raises:
        PassFailedException: a buffer of unknown size, or of another kernel.
    """
    descriptors: dict[InitTileOp, SSAValue] = {}
    rebuilt: dict[Operation, SSAValue] = {}
    for source in dict.fromkeys(op.source for op in inits):
        users = [op for op in inits if op.source is source]
        with Rewriting(users[0]):
            descriptor = _create(users[0], rebuilt)
        descriptors |= dict.fromkeys(users, descriptor)
    return descriptors


def matrix_offsets(op: InitTileOp, where: InsertPoint) -> tuple[Index, ...]:
    """Return the offsets of a tile in its matrix: several matrices are stacked along rows."""
    *batch, row, column = op.offsets
    shape = _memref(op.source).get_shape()
    for axis, offset in enumerate(batch):
        row = add(row, multiply(offset, prod(shape[axis + 1 : -1]), where), where)
    return row, column


def _create(op: InitTileOp, rebuilt: dict[Operation, SSAValue]) -> SSAValue:
    shape, strides = _stored(op)
    element = op.tile.type.element_type
    nbytes = (sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1) * bytes_of(element)
    layout = None if strides == (shape[1], 1) else MemLayoutAttr(MemLayout(stride=strides))
    name, buffer = op.source.name_hint, _bytes_of(op.source, nbytes, rebuilt)
    create = CreateMemDescOp(buffer, MemDescType(VectorType(element, shape), layout))
    create.mem_desc.name_hint = name
    Rewriter.insert_op(create, _after(buffer))
    locate(create, op)
    return create.mem_desc


def _stored(op: InitTileOp) -> tuple[Ints, Ints]:
    """Return shape and strides of the matrix as tiles index it; several matrices form one long one."""
    memref = op.source.type
    if not isinstance(memref, MemRefType) or not memref.has_static_shape() or op.placement[1]:
        raise PassFailedException(f"lower-xetile: expected a memref of static shape in local memory, got {memref}")
    strides = stored_strides(memref, op.tile.type.traits.order)
    *batch, rows, columns = memref.get_shape()
    if batch and not isinstance(memref.layout, NoneAttr):
        raise PassFailedException(f"lower-xetile: expected dense matrices in local memory, got {memref}")
    return (prod(batch) * rows, columns), (strides[-2], strides[-1])


def _bytes_of(source: SSAValue, nbytes: int, rebuilt: dict[Operation, SSAValue]) -> SSAValue:
    """Return the byte buffer that replaces a memref in local memory; `rebuilt` holds those of allocations."""
    raw = MemRefType(i8, [nbytes], NoneAttr(), _memref(source).memory_space)
    if source.type == raw:
        return source
    owner = source.owner
    if isinstance(owner, Block):
        return Rewriter.replace_value_with_new_type(source, raw)
    if isinstance(owner, AllocaOp):
        if owner not in rebuilt:
            rebuilt[owner] = _rebuilt(owner, raw)
        return rebuilt[owner]
    if isinstance(owner, TransposeOp):
        return _bytes_of(owner.source, nbytes, rebuilt)
    if isinstance(owner, ViewOp):
        if owner.source.type == raw:
            return owner.source
        view = ViewOp(owner.source, owner.byte_shift, [], raw)
        Rewriter.insert_op(view, InsertPoint.after(owner))
        return view.result
    raise PassFailedException(
        f"lower-xetile: expected local memory from memref.alloc, memref.alloca, memref.view, memref.transpose or "
        f"a workgroup buffer of the kernel, got it from {owner.name}"
    )


def _rebuilt(old: AllocaOp, raw: MemRefType) -> SSAValue:
    """Rebuild an allocation with bytes for elements."""
    new = AllocaOp.get(i8, None, raw.get_shape(), memory_space=raw.memory_space)
    new.memref.name_hint = old.memref.name_hint
    Rewriter.insert_op(new, InsertPoint.before(old))
    return new.memref


def _is_local(memref: Attribute) -> bool:
    """True if memory is shared by a work-group: space 3, or its name."""
    assert isinstance(memref, MemRefType)
    space = memref.memory_space
    return "workgroup" in str(space) or space == IntegerAttr(SHARED_LOCAL_MEMORY, i64)


def _memref(source: SSAValue) -> MemRefType:
    assert isinstance(source.type, MemRefType)
    return source.type


def _after(buffer: SSAValue) -> InsertPoint:
    owner = buffer.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
