"""convert_layout: a no-op, a rearrangement in registers, or an exchange through shared local memory."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.maps import Ints, format_ints
from codegen.xe.dialects.xegpu import ConvertLayoutOp
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.redistribute import redistribute
from codegen.xe.passes.distribute.regroup import (
    layout_runs,
    regroup,
)
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    refuse,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Parts,
    Work,
)


def _derive(op: ConvertLayoutOp, known: Known) -> Layout | None:
    return stated(op, "target_layout", vector_shape(op.result))


def _operands(op: ConvertLayoutOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    shape = vector_shape(op.source)
    said = stated(op, "input_layout", shape)
    came = known.get(op.source)
    if said is not None and came is not None and not said.same_as(came, shape):
        raise refuse(f"convert_layout's input_layout to be that of its source, {_shown(came)}", _shown(said))
    return [said]


def _shown(layout: Layout) -> str:
    counts, strides = [axis.count for axis in layout.axes], [axis.stride for axis in layout.axes]
    return f"{format_ints(layout.data)} by {format_ints(counts)} sub-groups of strides {format_ints(strides)}"


def _lower(op: ConvertLayoutOp, work: Work) -> None:
    shape = vector_shape(op.source)
    parts, source, target = work.parts[op.source], work.layout(op.source), work.layout(op.result)
    work.replace(op, converted(work, op, parts, source, target, shape))


def converted(
    work: Work, op: Operation, parts: Parts, source: Layout, target: Layout, shape: Ints
) -> Sequence[SSAValue]:
    """Convert the blocks of a value to another layout with the least movement.

    Raises:
        PassFailedException: an exchange is required, but impossible.
    """
    if source.same_as(target, shape):
        return parts
    runs = layout_runs(source, shape, target, shape, (0,) * len(shape), work.subgroups_at(op))
    if runs is not None:
        return regroup(work, parts, source, shape, target, runs)
    return redistribute(work, op, parts, source, target, shape)


CONVERSIONS: dict[type[Operation], Rule] = {ConvertLayoutOp: Rule(_lower, derive=_derive, operands=_operands)}
