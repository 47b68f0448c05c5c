"""Converts blocked vectors back to matrices: inner_blocks of a tile then only affect its loads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.dialects.vector import BroadcastOp as VectorBroadcastOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.literals import is_splat
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.spellings import ints
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp
from codegen.xe.dialects.upstream.vector_ops import TransposeOp as VectorTransposeOp
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    BroadcastOp,
    LoadTileOp,
    ReductionOp,
    StoreTileOp,
    TileMmaOp,
    TilePackOp,
    TileUnpackOp,
)
from codegen.xe.locations import Rewriting

_XETILE = (AtomicRmwOp, BroadcastOp, LoadTileOp, ReductionOp, StoreTileOp, TileMmaOp, TilePackOp, TileUnpackOp)
_BLOCKED_RANK = 4


@dataclass(frozen=True)
class UnblockTilesPass(ModulePass):
    """Converts [m, n, Bm, Bn] to [m * Bm, n * Bn] where operations accept both, and packs again elsewhere."""

    name = "unblock-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        unblock_tiles(op)


def unblock_tiles(module: ModuleOp) -> None:
    """Apply the pass."""
    if not any(type(op) in _XETILE and any(map(_is_blocked, _values(op))) for op in walk(module)):
        return
    unblocked = [op for op in walk(module) if _takes_both(op)]
    for op in unblocked:
        for index, operand in enumerate(op.operands):
            if _is_blocked(operand) and not _takes_both(_maker(operand)):
                with Rewriting(op):
                    op.operands[index] = _unpack(operand, InsertPoint.before(op))
    for op in unblocked:
        for value in (*op.results, *_arguments(op)):
            if _is_blocked(value):
                _unblock(value)
    for op in unblocked:
        _amend(op)


def _takes_both(op: Operation) -> bool:
    """True if an operation has the same meaning on matrices and on blocked matrices."""
    if isinstance(op, scf.YieldOp):
        return _takes_both(cast(Operation, op.parent_op()))
    if isinstance(op, arith.ConstantOp):
        return isinstance(op.value, DenseIntOrFPElementsAttr)
    return isinstance(op, (*_XETILE, scf.ForOp, scf.IfOp)) or _is_elementwise(op)


def _is_elementwise(op: Operation) -> bool:
    if isinstance(op, VectorBroadcastOp):
        return not isinstance(op.source.type, VectorType)
    return op.name.partition(".")[0] in ("arith", "math")


def _unblock(value: SSAValue) -> None:
    """Give a value the shape of its matrix; pack it for users that need blocks."""
    blocked = cast(VectorType, value.type)
    others = [use for use in value.uses if not _takes_both(use.operation)]
    matrix = Rewriter.replace_value_with_new_type(value, _matrix_type(blocked))
    for use in others:
        with Rewriting(use.operation):
            packed = _pack(matrix, blocked, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = packed


def _amend(op: Operation) -> None:
    """Adapt those attributes of an operation that refer to blocks."""
    if isinstance(op, TilePackOp | TileUnpackOp):
        op.result.replace_all_uses_with(op.source)
        Rewriter.erase_op(op)
    elif isinstance(op, ReductionOp):
        op.reduction_dims = _halved(op.reduction_dims)
    elif isinstance(op, BroadcastOp):
        op.broadcast_dims = _halved(op.broadcast_dims)
    elif isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
        op.value = _matrix_constant(op.value) if len(op.value.get_shape()) == _BLOCKED_RANK else op.value


def _halved(dims: DenseArrayBase[IntegerType]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, sorted({d % 2 for d in ints(dims)}))


def _matrix_constant(blocked: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    matrix = _matrix_type(cast(VectorType, blocked.type))
    if is_splat(blocked):
        return DenseIntOrFPElementsAttr(cast(VectorType[AnyDenseElement], matrix), blocked.data)
    values = list(blocked.get_values())
    m, n, rows, columns = blocked.get_shape()
    order = product(range(m), range(rows), range(n), range(columns))
    values = [values[((i * n + j) * rows + r) * columns + c] for i, r, j, c in order]
    return DenseIntOrFPElementsAttr.from_list(matrix, values)  # pyright: ignore


def _pack(matrix: SSAValue, blocked: VectorType, where: InsertPoint) -> SSAValue:
    m, n, rows, columns = blocked.get_shape()
    return _permuted(matrix, (m, rows, n, columns), blocked, where)


def _unpack(blocked: SSAValue, where: InsertPoint) -> SSAValue:
    vector = cast(VectorType, blocked.type)
    swap = VectorTransposeOp(blocked, (0, 2, 1, 3))
    cast_op = ShapeCastOp(swap.result, _matrix_type(vector))
    Rewriter.insert_op([swap, cast_op], where)
    return cast_op.result


def _permuted(matrix: SSAValue, shape: Ints, blocked: VectorType, where: InsertPoint) -> SSAValue:
    cut = ShapeCastOp(matrix, VectorType(blocked.element_type, shape))
    swap = VectorTransposeOp(cut.result, (0, 2, 1, 3))
    Rewriter.insert_op([cut, swap], where)
    return swap.result


def _matrix_type(blocked: VectorType) -> VectorType:
    m, n, rows, columns = blocked.get_shape()
    return VectorType(blocked.element_type, (m * rows, n * columns))


def _is_blocked(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType) and value.type.get_num_dims() == _BLOCKED_RANK


def _maker(value: SSAValue) -> Operation:
    """Return the operation that defines a value; the loop for an argument of a loop."""
    return cast(Operation, value.owner.parent_op()) if isinstance(value.owner, Block) else value.owner


def _values(op: Operation) -> Iterator[SSAValue]:
    yield from op.operands
    yield from op.results


def _arguments(op: Operation) -> Sequence[SSAValue]:
    return op.body.block.args if isinstance(op, scf.ForOp) else ()
