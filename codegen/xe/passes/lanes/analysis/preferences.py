"""Preferred layouts of vectors, derived from their uses, so that loads put elements where they are used.

Propagates backwards: an operand of DPAS has the instruction's layout; through element-wise operations,
transposes, casts and loops the preference reaches the producer. Other values have the canonical layout, but casts
that split rows into parts shorter than a sub-group keep that of the rows.
"""

from collections.abc import Iterator
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BitcastOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.vector_ops import (
    ShapeCastOp,
    TransposeOp,
)
from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    CreateMemDescOp,
    DpasOp,
    StoreOp,
)
from codegen.xe.locations import Rewriting
from codegen.xe.passes.lanes.analysis.slm_layouts import (
    Layouts,
    adjacent,
    stores_of,
    takes_rows,
)
from codegen.xe.passes.lanes.emitter import bits_of
from codegen.xe.passes.lanes.memory.scattered import natural_layout
from codegen.xe.passes.lanes.values import lane_element, shape_of
from codegen.xe.passes.lanes.vectors.dpas import (
    layout_a,
    layout_b,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    by_row,
    canonical,
    column_groups,
    columns_of_lanes,
    joined,
)
from codegen.xe.passes.lanes.vectors.shuffles import transposed_source
from codegen.xe.subgroup import subgroup_size

_WORD_BITS = 32
_MESSAGE_LANES = 16
"""Lanes of sub-groups that load blocks by messages, in rows of lanes."""

Wishes = dict[SSAValue, LaneLayout]


def preferences(body: Block, *, has_dpas: bool = True) -> Wishes:
    """Return the layouts of all vectors of a kernel that are not canonical."""
    wishes: Wishes = {}
    operations = list(walk(body))
    for op in operations:
        if type(op) is DpasOp or type(op) is StoreOp:
            with Rewriting(op):
                _wish_operands(wishes, op, has_dpas=has_dpas)
    for op in reversed(operations):
        if (type(op) is TransposeOp or type(op) is ShapeCastOp) and not _splits_rows(wishes, op):
            _wish(wishes, op.operands[0], _source_layout(wishes, op))
    for op in operations:
        if type(op) is ShapeCastOp and _splits_rows(wishes, op):
            wishes[op.result] = wishes.get(op.source) or canonical(shape_of(op.source))
    for op in operations:
        if type(op) is CreateMemDescOp:
            for value in (store.value for store in stores_of(op) if len(shape_of(store.value)) == 2):
                stored = _stored(op, value, lambda v: wishes.get(v) or canonical(shape_of(v)))
                if stored is not None:
                    _wish(wishes, value, stored)
    return {value: layout for value, layout in wishes.items() if layout != canonical(shape_of(value))}


def _wish_operands(wishes: Wishes, op: DpasOp | StoreOp, *, has_dpas: bool) -> None:
    """Set the preferred layouts of the operands of an instruction or of a scattered store."""
    if isinstance(op, StoreOp):
        layout = natural_layout(op)
        if layout is not None:
            _wish(wishes, op.value, layout)
    elif has_dpas:
        _wish(wishes, op.a, layout_a(op))
        _wish(wishes, op.b, layout_b(op))
        if op.c is not None and isinstance(op.c.owner, TransposeOp):
            _wish(wishes, op.c, canonical(shape_of(op.c)))


def _stored(op: CreateMemDescOp, value: SSAValue, layouts: Layouts) -> LaneLayout | None:
    """Return the layout of a value with which its store to a buffer is in vectors, as are loads from memory."""
    (rows, columns), lanes = shape_of(value), subgroup_size()
    if takes_rows(op, layouts):
        return by_row(rows, columns)
    words = adjacent(op, layouts)
    if words > 1:
        return column_groups(rows, columns, words) if columns % (words * lanes) == 0 else None
    each = _WORD_BITS // bits_of(lane_element(op.mem_desc.type.element_type))
    if lanes == _MESSAGE_LANES or each < 2 or columns % (each * lanes):
        return None
    return columns_of_lanes(rows, columns, each)


def _wish(wishes: Wishes, value: SSAValue, layout: LaneLayout) -> None:
    """Set the preferred layout of a value and of its sources; the first preference wins."""
    pending = [(value, layout)]
    while pending:
        now, wanted = pending.pop()
        if now in wishes or not isinstance(now.type, VectorType):
            continue
        wishes[now] = wanted
        pending += [(source, wanted) for source in _sources(now)]
        owner = now.owner
        if isinstance(owner, TransposeOp | ShapeCastOp):
            pending.append((owner.operands[0], _source_layout(wishes, owner)))
        elif isinstance(owner, BitcastOp) and (whole := joined(wanted, _parts(owner))) is not None:
            pending.append((owner.source, whole))


def _parts(op: BitcastOp) -> int:
    """Return the elements of the result that one of the source becomes; 0 if they are wider."""
    source, result = (cast(VectorType, value.type).element_type for value in (op.source, op.result))
    return bits_of(lane_element(source)) // bits_of(lane_element(result))


def _splits_rows(wishes: Wishes, op: Operation) -> bool:
    """True if a cast splits rows into parts shorter than a register, and nothing prefers a layout of them."""
    if not isinstance(op, ShapeCastOp) or op.result in wishes:
        return False
    (*_, before), (*_, after) = shape_of(op.source), shape_of(op.result)
    return before % subgroup_size() == 0 and after < subgroup_size()


def _source_layout(wishes: Wishes, op: TransposeOp | ShapeCastOp) -> LaneLayout:
    """Return the layout of the operand with which the result needs no movement."""
    result = op.results[0]
    layout = wishes.get(result) or canonical(shape_of(result))
    if isinstance(op, ShapeCastOp):
        return layout
    return transposed_source(op, layout)


def _sources(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the values of the same shape from which a value is computed element by element or carried."""
    owner = value.owner
    if isinstance(value, BlockArgument):
        yield from _of_argument(value)
    elif isinstance(value, OpResult) and isinstance(owner, Operation):
        if owner.name.startswith(("arith.", "math.")) or isinstance(owner, ConvertLayoutOp):
            yield from (o for o in owner.operands if shape_of(o) == shape_of(value))
        elif isinstance(owner, scf.ForOp):
            yield owner.body.block.args[value.index + 1]
        elif isinstance(owner, scf.IfOp):
            yield from (_last(r.block).operands[value.index] for r in owner.regions if r.blocks)


def _of_argument(argument: BlockArgument) -> Iterator[SSAValue]:
    block = argument.block
    loop = block.parent_op()
    if isinstance(loop, scf.ForOp) and argument.index > 0:
        yield loop.iter_args[argument.index - 1]
        yield _last(block).operands[argument.index - 1]
        yield loop.results[argument.index - 1]


def _last(block: Block) -> Operation:
    assert block.last_op is not None  # every region of scf has a terminator
    return block.last_op
