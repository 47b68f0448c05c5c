"""Converts programs in memref and vector to XeTile, one to one."""

from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import (
    Index,
    join,
)
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.upstream.contract import (
    ContractOp,
    projection,
)
from codegen.xe.dialects.upstream.vector_ops import TransposeOp as VectorTransposeOp
from codegen.xe.dialects.xetile import (
    InitTileOp,
    LoadTileOp,
    StoreTileOp,
    TileMmaOp,
    TileTraits,
    TileType,
    TransposeOp,
)
from codegen.xe.dialects.xetile.tile_attr import (
    COLUMN_MAJOR,
    ROW_MAJOR,
)
from codegen.xe.locations import Rewriting

_SWAP = (1, 0)
_SWAPPED = projection(2, (1, 0))
# Iteration dimensions m, n, k.
_A, _A_TRANSPOSED = projection(3, (0, 2)), projection(3, (2, 0))
_B, _B_TRANSPOSED = projection(3, (2, 1)), projection(3, (1, 2))
_C = projection(3, (0, 1))


@dataclass(frozen=True)
class VectorToXeTilePass(ModulePass):
    """Converts `memref.subview`, transfers, `transpose` and `contract` to their XeTile equivalents.

    The tile's order is that of the memref's layout. Source: XeTile RFC, appendix 1.
    """

    name = "vector-to-xetile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        vector_to_xetile(op)


def vector_to_xetile(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: an operation has no equivalent in XeTile.
    """
    for op in tuple(module.walk()):
        with Rewriting(op):
            _rewrite(op)
    for op in reversed(tuple(module.walk())):
        if isinstance(op, memref.SubviewOp) and not op.result.uses:
            Rewriter.erase_op(op)


def _rewrite(op: Operation) -> None:
    if isinstance(op, vector.TransferReadOp):
        _read(op)
    elif isinstance(op, vector.TransferWriteOp):
        _write(op)
    elif isinstance(op, VectorTransposeOp):
        _transpose(op)
    elif isinstance(op, ContractOp):
        _contract(op)


def _read(op: vector.TransferReadOp) -> None:
    value_type = op.result.type
    swapped = _is_swapped(op.permutation_map, value_type, op)
    if op.mask is not None:
        raise _refused("a transfer without a mask, as tiles end at the matrix", op)
    builder = Builder(InsertPoint.before(op))
    shape = value_type.get_shape()
    tile = _tile(builder, op.source, tuple(op.indices), shape[::-1] if swapped else shape, op)
    load = LoadTileOp(tile)
    load.properties |= _padding(op.padding, op)
    value = builder.insert(load).value
    if swapped:
        value = builder.insert(TransposeOp(value, value_type)).result
    _replace(op, value)


def _write(op: vector.TransferWriteOp) -> None:
    value_type = cast(VectorType, op.vector.type)
    if op.mask is not None:
        raise _refused("a transfer without a mask, as tiles end at the matrix", op)
    builder = Builder(InsertPoint.before(op))
    value = op.vector
    if _is_swapped(op.permutation_map, value_type, op):
        swapped = VectorType(value_type.element_type, value_type.get_shape()[::-1])
        value = builder.insert(TransposeOp(value, swapped)).result
    shape = cast(VectorType, value.type).get_shape()
    tile = _tile(builder, op.source, tuple(op.indices), shape, op)
    builder.insert(StoreTileOp(value, tile))
    Rewriter.erase_op(op)


def _transpose(op: VectorTransposeOp) -> None:
    if tuple(op.permutation.get_values()) != _SWAP:
        raise _refused("a transpose [1, 0] of two dimensions", op)
    new = TransposeOp(op.vector, op.result.type)
    Rewriter.insert_op(new, InsertPoint.before(op))
    _replace(op, new.result)


def _contract(op: ContractOp) -> None:
    """Convert to a product of matrices; a transposed operand is transposed first."""
    builder = Builder(InsertPoint.before(op))
    map_a, map_b, map_c = op.maps
    if map_a not in (_A, _A_TRANSPOSED) or map_b not in (_B, _B_TRANSPOSED) or map_c != _C:
        raise _refused("a contraction that is a product of matrices: maps (m, k), (k, n) and (m, n)", op)
    if op.kind.data is not vector.CombiningKindFlag.ADD:
        raise _refused("a contraction that adds", op)
    a = _turned(builder, op.lhs) if map_a == _A_TRANSPOSED else op.lhs
    b = _turned(builder, op.rhs) if map_b == _B_TRANSPOSED else op.rhs
    _replace(op, builder.insert(TileMmaOp(a, b, op.acc)).d)


def _turned(builder: Builder, value: SSAValue) -> SSAValue:
    type_ = cast(VectorType, value.type)
    return builder.insert(TransposeOp(value, VectorType(type_.element_type, type_.get_shape()[::-1]))).result


def _tile(builder: Builder, source: SSAValue, indices: tuple[SSAValue, ...], shape: Ints, op: Operation) -> SSAValue:
    """Create the tile at `indices` of `source`, which may be a subview."""
    offsets: tuple[Index, ...] = indices
    if isinstance(source.owner, memref.SubviewOp):
        view = source.owner
        _verify_view(view, indices, shape)
        offsets = join(iter(view.offsets), view.static_offsets)
        source = view.source
    type_ = cast(MemRefType, source.type)
    if not type_.has_static_shape():
        raise _refused("a memref of static shape", op)
    traits = TileTraits(order=_order(type_, op), memory_space=_memory_space(type_))
    return builder.insert(InitTileOp(source, offsets, TileType(shape, type_.element_type, traits))).tile


def _verify_view(view: memref.SubviewOp, indices: tuple[SSAValue, ...], shape: Ints) -> None:
    """Check that the view is the whole tile: transfers pad beyond the view, tiles only beyond the matrix."""
    sizes = tuple(view.static_sizes.get_values())
    if any(stride != 1 for stride in view.static_strides.get_values()):
        raise _refused("a subview with strides of 1", view)
    if sizes[-2:] != shape or any(size != 1 for size in sizes[:-2]) or not all(map(_is_zero, indices)):
        raise _refused(f"a subview of {format_ints(shape)}, transferred whole", view)


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr) and owner.value.value.data == 0


def _order(type_: MemRefType, op: Operation) -> Ints:
    """Return the tile's order from the memref's layout."""
    layout = type_.layout
    if isinstance(layout, StridedLayoutAttr):
        row, column = (s.data if isinstance(s, IntAttr) else None for s in layout.strides.data[-2:])
        if column == 1:
            return ROW_MAJOR
        if row == 1:
            return COLUMN_MAJOR
        raise _refused("a memref with one contiguous dimension of the last two", op)
    if isinstance(layout, AffineMapAttr) and layout.data == _SWAPPED:
        return COLUMN_MAJOR
    if isinstance(layout, AffineMapAttr) and layout.data != AffineMap.identity(type_.get_num_dims()):
        raise _refused("a memref stored in rows or in columns", op)
    return ROW_MAJOR


def _memory_space(type_: MemRefType) -> int:
    return type_.memory_space.value.data if isinstance(type_.memory_space, IntegerAttr) else 0


def _is_swapped(permutation: AffineMapAttr, value_type: VectorType, op: Operation) -> bool:
    if value_type.get_num_dims() != 2:
        raise _refused(f"a transfer of a 2-D vector, not of {format_ints(value_type.get_shape())}", op)
    rank = permutation.data.num_dims
    dimensions = [r.position if isinstance(r, AffineDimExpr) else None for r in permutation.data.results]
    if dimensions not in ([rank - 2, rank - 1], [rank - 1, rank - 2]):
        raise _refused("a transfer of the two inner dimensions", op)
    return dimensions == [rank - 1, rank - 2]


def _padding(value: SSAValue, op: Operation) -> dict[str, Attribute]:
    """Return the padding attribute; none for zero, the default."""
    constant = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    if not isinstance(constant, FloatAttr | IntegerAttr):
        raise _refused("padding that is a constant", op)
    return {} if constant.value.data == 0 else {"padding": constant}


def _replace(op: Operation, value: SSAValue) -> None:
    value.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [value])


def _refused(expected: str, op: Operation) -> PassFailedException:
    return PassFailedException(f"vector-to-xetile: expected {expected}, got {op}")
