"""Inference of the layout of every work-group value of a kernel.

Operations with a layout are the anchors. Layouts propagate forward from them, and backward to values without
one. If several are possible, the precedence is: the operation's own layout, that of its operands, that of its
users, the initial one of a loop. Values that no layout reaches are replicated in every sub-group.
"""

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
    TensorDescType,
)
from codegen.xe.locations import Rewriting
from codegen.xe.passes.distribute.attributes import (
    LayoutLike,
    subgroups_of,
)
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.ops.control_flow import (
    Tie,
    ties,
)
from codegen.xe.passes.distribute.rule import (
    is_distributed,
    range_around,
    refuse,
    shape_of,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.rules import rule_of

_MOST_SUBGROUPS = 1024  # of a work-group: more than any device has; each is looked at


def layouts_of(func: FuncOp, subgroups: int | None = None) -> dict[SSAValue, Layout]:
    """Return the layouts of the vectors and scattered descriptors of a kernel.

    Raises:
        PassFailedException: a layout does not distribute its value, or counts more sub-groups than any GPU has.
    """
    count = subgroups or most_subgroups(func)
    if count > _MOST_SUBGROUPS:
        raise refuse(f"layouts of at most {_MOST_SUBGROUPS} sub-groups", count)
    return _Analysis(func, count).run()


def most_subgroups(func: FuncOp) -> int:
    """Return the number of sub-groups of the largest layout in a kernel; 0 without layouts."""
    return max((n for op in walk(func) for a in layout_attributes(op) if (n := subgroups_of(a)) is not None), default=0)


def layout_attributes(op: Operation) -> Iterable[LayoutLike]:
    """Yield the layouts of an operation and of its descriptors."""
    # `isinstance` with xDSL's abstract classes takes long.
    types = [value.type for value in (*op.operands, *op.results)]
    described = [kind.layout for kind in types if type(kind) is TensorDescType]
    for attribute in (*op.properties.values(), *op.attributes.values(), *described):
        if type(attribute) is LayoutAttr or type(attribute) is SliceAttr or type(attribute) is SgMapAttr:
            yield attribute


class _Analysis:
    def __init__(self, func: FuncOp, subgroups: int) -> None:
        self._subgroups = subgroups
        self._known: dict[SSAValue, Layout] = {}
        self._ops = [op for op in walk(func) if op is not func]
        self._rules = [(op, rule) for op in self._ops if (rule := rule_of(op)) is not None]
        self._ties: list[tuple[Tie, Operation]] = [(tie, op) for op in self._ops for tie in ties(op)]
        self._ends = {end: tie.ends for tie, _ in self._ties for end in tie.ends}

    def run(self) -> dict[SSAValue, Layout]:
        """Return every layout."""
        self._anchor_sources()
        while True:
            if self._forward() or self._backward() or self._weakly() or self._default():
                continue
            return self._known

    def _anchor_sources(self) -> None:
        """Use the source layout of convert_layout for its source, unless that has its own."""
        for op in self._ops:
            said = _source_layout(op)
            if said is not None:
                owner = op.operands[0].owner
                rule = rule_of(owner) if isinstance(owner, Operation) else None
                if rule is None or rule.derive(owner, {}) is None:
                    self._know(op.operands[:1], said, op)

    def _forward(self) -> bool:
        changed = False
        for op, rule in self._rules:
            if any(self._open(result) for result in op.results):
                with Rewriting(op):
                    layout = rule.derive(op, self._known)
                    changed |= layout is not None and self._know(op.results, layout, op)
        for tie, op in self._ties:
            changed |= self._tie(tie, (*tie.ends, *(s.value for s in tie.strong)), op)
        return changed

    def _backward(self) -> bool:
        changed = False
        for op, rule in reversed(self._rules):
            if not any(self._open(operand) for operand in op.operands):
                continue
            layout = next((self._known[result] for result in op.results if result in self._known), None)
            with Rewriting(op):
                needed = rule.operands(op, layout, self._known)
                for operand, need in zip(op.operands, needed, strict=True):
                    changed |= need is not None and self._know((operand,), need, op)
        for tie, op in self._ties:
            known = next((self._known[end] for end in tie.ends if end in self._known), None)
            if known is not None:
                changed |= self._know((s.value for s in (*tie.strong, *tie.weak)), known, op)
        return changed

    def _weakly(self) -> bool:
        """Set one layout that only applies without any other."""
        for op, rule in self._rules:
            if any(self._open(result) for result in op.results):
                layout = rule.weak(op, self._known)
                if layout is not None and self._know(op.results, layout, op):
                    return True
        return any(self._tie(tie, (s.value for s in tie.weak), op) for tie, op in self._ties)

    def _default(self) -> bool:
        for op in self._ops:
            for value in (*op.results, *(arg for region in op.regions for b in region.blocks for arg in b.args)):
                if self._open(value):
                    shape = shape_of(value)
                    assert shape is not None
                    return self._know((value,), Layout.whole(shape), op)
        return False

    def _tie(self, tie: Tie, sources: Iterable[SSAValue], op: Operation) -> bool:
        layout = next((self._known[source] for source in sources if source in self._known), None)
        return layout is not None and self._know(tie.ends, layout, op)

    def _open(self, value: SSAValue) -> bool:
        return value not in self._known and is_distributed(value)

    def _know(self, values: Iterable[SSAValue], layout: Layout, op: Operation) -> bool:
        """Set the layout of those values that have none yet, and of all values tied to them."""
        changed = False
        for value in (end for one in values for end in self._ends.get(one, (one,))):
            if self._open(value):
                self._verify(value, layout, op)
                self._known[value] = layout
                changed = True
        return changed

    def _verify(self, value: SSAValue, layout: Layout, op: Operation) -> None:
        shape = shape_of(value)
        assert shape is not None
        around = range_around(op)
        subgroups = self._subgroups if around is None else min(self._subgroups, around.end) - around.start
        fault = layout.fault(shape, subgroups)
        if fault is not None:
            expected, _, got = fault.rpartition(", got ")
            with Rewriting(op):
                raise refuse(f"for {op.name} of {format_ints(shape)} {expected}", got)


def _source_layout(op: Operation) -> Layout | None:
    return stated(op, "input_layout", vector_shape(op.source)) if type(op) is ConvertLayoutOp else None
