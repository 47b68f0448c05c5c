"""Operations on vectors: tile_mma, transpose, reduction, broadcast, convert_layout."""

from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType
from xdsl.dialects.vector import BroadcastOp as VectorBroadcastOp
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.kinds import ReductionKind
from codegen.xe.dialects.spellings import ints
from codegen.xe.dialects.upstream.vector_ops import (
    MultiReductionOp,
    ShapeCastOp,
)
from codegen.xe.dialects.upstream.vector_ops import TransposeOp as VectorTransposeOp
from codegen.xe.dialects.xegpu import ConvertLayoutOp as XeGpuConvertLayoutOp
from codegen.xe.dialects.xegpu import DpasOp
from codegen.xe.dialects.xetile import (
    BroadcastOp,
    ConvertLayoutOp,
    ReductionOp,
    TileMmaOp,
    TransposeOp,
)
from codegen.xe.dialects.xetile.map_rules import broadcast_source
from codegen.xe.passes.xetile_to_xegpu.layouts import (
    RESULT_LAYOUT,
    Instructions,
    layout,
    optional,
    optional_slice,
)
from codegen.xe.passes.xetile_to_xegpu.values import (
    constant,
    replace,
)


def lower_mma(op: TileMmaOp, instructions: Instructions) -> None:
    """Lower to one dpas of the whole tile; layouts give the distribution and the size of one DPAS."""
    m, n, k = instructions.dpas
    layouts: dict[str, Attribute] = {}
    for name, wg_map, block in (
        ("layout_a", op.wg_map_a, (m, k)),
        ("layout_b", op.wg_map_b, (k, n)),
        ("layout_cd", op.wg_map_c, (m, n)),
    ):
        layouts |= optional(name, wg_map, block)
    start = op.c
    if start is None and op.wg_map_c is not None:  # MLIR requires one at work-group level
        start = constant(op.d.type, 0, InsertPoint.before(op))
    replace(op, DpasOp(op.a, op.b, start, op.d.type, layouts))


def lower_transpose(op: TransposeOp, instructions: Instructions) -> None:
    """Lower to vector.transpose."""
    swap = VectorTransposeOp(op.source, (1, 0))
    swap.attributes |= optional(RESULT_LAYOUT, op.wg_map_result, instructions.block)
    replace(op, swap)


def lower_broadcast(op: BroadcastOp, instructions: Instructions) -> None:
    """Lower to vector.broadcast of equal rank."""
    spread = VectorBroadcastOp(op.source, op.result_type)
    spread.attributes |= optional(RESULT_LAYOUT, op.wg_map_result, instructions.block)
    replace(op, spread)


def lower_convert_layout(op: ConvertLayoutOp, instructions: Instructions) -> None:
    """Lower to convert_layout, or to nothing if the source's layout is unconstrained."""
    if op.wg_map_source is None or op.wg_map_source == op.wg_map_result:
        op.result.replace_all_uses_with(op.source)
        Rewriter.erase_op(op)
        return
    source, result = (layout(m, instructions.block) for m in (op.wg_map_source, op.wg_map_result))
    replace(op, XeGpuConvertLayoutOp(op.source, source, result))


def lower_reduction(op: ReductionOp, instructions: Instructions) -> None:
    """Lower to vector.multi_reduction from the neutral element, and add the dimensions of extent 1 again."""
    source, dims, where = op.source_type, ints(op.reduction_dims), InsertPoint.before(op)
    kept = [n for axis, n in enumerate(source.get_shape()) if axis not in dims]
    neutral = _neutral(op.kind.data, source.element_type)
    start_type = VectorType(source.element_type, kept) if kept else source.element_type
    start = constant(start_type, neutral, where)
    kind = CombiningKindAttr(CombiningKindFlag(op.kind.data.value))
    reduce = MultiReductionOp(kind, op.source, start, dims)
    if op.wg_map_source is not None:
        reduce.attributes |= optional_slice(op.wg_map_source, instructions.block, dims)
    Rewriter.insert_op(reduce, where)
    again = ShapeCastOp(reduce.dest, op.result_type) if kept else VectorBroadcastOp(reduce.dest, op.result_type)
    result = op.wg_map_result or (op.wg_map_source and broadcast_source(op.wg_map_source, dims))
    again.attributes |= optional(RESULT_LAYOUT, result, instructions.block)
    replace(op, again)


def _neutral(kind: ReductionKind, element: Attribute) -> float:
    """Return the neutral element of a reduction; NaN for the kinds that ignore NaN."""
    if isinstance(element, AnyFloat):
        return _NEUTRAL_FLOAT[kind]
    assert isinstance(element, IntegerType)  # checked by the verifier of reduction
    bits = element.width.data
    signed = 1 << (bits - 1)
    return {
        ReductionKind.MUL: 1,
        ReductionKind.MINSI: signed - 1,
        ReductionKind.MAXSI: -signed,
        ReductionKind.MINUI: -1 if bits > 1 else 1,
        ReductionKind.AND: -1 if bits > 1 else 1,
    }.get(kind, 0)


_NEUTRAL_FLOAT = {
    ReductionKind.ADD: 0.0,
    ReductionKind.MUL: 1.0,
    ReductionKind.MINIMUMF: float("inf"),
    ReductionKind.MAXIMUMF: float("-inf"),
    ReductionKind.MINNUMF: float("nan"),
    ReductionKind.MAXNUMF: float("nan"),
}
