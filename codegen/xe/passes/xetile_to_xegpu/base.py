"""The matrix under a tile in XeGPU's form: two dimensions, row-major, and the position of the tile in it."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import (
    Index,
    join,
)
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xetile import InitTileOp
from codegen.xe.dialects.xetile.tile_attr import COLUMN_MAJOR
from codegen.xe.passes.xetile_to_xegpu.values import (
    add,
    multiply,
)


@dataclass(frozen=True, slots=True)
class Base:
    """Sizes and strides in elements of the two inner dimensions as stored; `first` is the offset before them."""

    source: SSAValue
    first: Index
    sizes: tuple[Index, Index]
    strides: tuple[Index, Index]
    offsets: tuple[Index, Index]
    transposed: bool


def base_of(op: InitTileOp, where: InsertPoint) -> Base:
    """Return the matrix of a tile; required computations are inserted at `where`.

    Raises:
        PassFailedException: the base is a memref with dynamic strides.
    """
    offsets, sizes, strides = op.placement
    if not sizes:
        assert isinstance(op.source.type, MemRefType)  # the verifier of init_tile requires sizes for an address
        sizes = op.source.type.get_shape()
        strides = stored_strides(op.source.type, op.tile.type.traits.order)
    first = _offset(op)
    for offset, stride in zip(offsets[:-2], strides[:-2], strict=True):
        first = add(first, multiply(offset, stride, where), where)
    transposed = op.tile.type.traits.order == COLUMN_MAJOR
    (rows, columns), (down, across), (y, x) = (v[:-3:-1] if transposed else v[-2:] for v in (sizes, strides, offsets))
    return Base(op.source, first, (rows, columns), (down, across), (y, x), transposed)


def is_plain(op: InitTileOp) -> bool:
    """True if the base already has XeGPU's form."""
    return len(op.offsets) == 2 and op.tile.type.traits.order != COLUMN_MAJOR


def as_matrix(base: Base, where: InsertPoint) -> SSAValue:
    """Return a memref of just the stored matrix; an address is unchanged, as its sizes and strides are explicit."""
    memref = base.source.type
    if not isinstance(memref, MemRefType):
        return base.source
    return recast(base.source, base.first, base.sizes, base.strides, where)


def as_elements(op: InitTileOp, base: Base | None, where: InsertPoint) -> SSAValue:
    """Return a 1-D memref of all elements of the base; an address is unchanged.

    Raises:
        PassFailedException: the number of elements is unknown.
    """
    memref = op.source.type
    if not isinstance(memref, MemRefType) or (memref.get_num_dims() == 1 and isinstance(memref.layout, NoneAttr)):
        return op.source
    if base is not None:
        count = multiply(base.sizes[0], base.strides[0], where)
        return recast(op.source, base.first, (count,), (1,), where)
    if not memref.has_static_shape() or not isinstance(memref.layout, NoneAttr):
        raise PassFailedException(
            f"lower-xetile: expected a dense memref of static shape under a scattered tile, got {memref}"
        )
    return recast(op.source, 0, (prod(memref.get_shape()),), (1,), where)


def recast(
    source: SSAValue, first: Index, sizes: tuple[Index, ...], strides: tuple[Index, ...], where: InsertPoint
) -> SSAValue:
    """Reinterpret the memory of a memref."""
    memref = source.type
    assert isinstance(memref, MemRefType)
    shape = [n if isinstance(n, int) else DYNAMIC_INDEX for n in sizes]
    steps = [n if isinstance(n, int) else None for n in strides]
    dense = first == 0 and steps == [prod(shape[axis + 1 :]) for axis in range(len(shape))] and min(shape) > 0
    layout = NoneAttr() if dense else StridedLayoutAttr(steps, first if isinstance(first, int) else None)
    result = MemRefType(memref.element_type, shape, layout, memref.memory_space)
    cast = ReinterpretCastOp.from_dynamic(source, [first], list(sizes), list(strides), result)
    Rewriter.insert_op(cast, where)
    return cast.result


def stored_strides(memref: MemRefType, order: Ints) -> Ints:
    """Return the strides of a memref of static shape under tiles of that order.

    Raises:
        PassFailedException: the strides are dynamic.
    """
    shape = memref.get_shape()
    dense = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if isinstance(memref.layout, AffineMapAttr) and order == COLUMN_MAJOR:
        return (*dense[:-2], 1, shape[-2])
    if not isinstance(memref.layout, StridedLayoutAttr):
        return dense
    strides = tuple(s for s in memref.layout.get_strides() if s is not None)
    if len(strides) != len(shape):
        raise PassFailedException(f"lower-xetile: expected a memref with static strides, got {memref}")
    return strides


def _offset(op: InitTileOp) -> Index:
    """Return the offset of the memref from its type, or from the cast that defines it."""
    memref, cast = op.source.type, op.source.owner
    if not isinstance(memref, MemRefType) or not isinstance(memref.layout, StridedLayoutAttr):
        return 0
    offset = memref.layout.get_offset()
    if offset is None and isinstance(cast, ReinterpretCastOp):
        (offset,) = join(iter(cast.offsets), cast.static_offsets)
    if offset is None:
        raise PassFailedException(f"lower-xetile: expected a memref with a static offset, got {memref}")
    return offset
