"""Inserts an `xegpu.convert_layout` for every operand whose layout is not the one its user needs.

Cheap values are recomputed in the other layout instead.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.upstream.vector_ops import MultiReductionOp
from codegen.xe.dialects.xegpu import ConvertLayoutOp
from codegen.xe.locations import Rewriting, locate
from codegen.xe.passes.distribute.analysis import (
    layouts_of,
    most_subgroups,
)
from codegen.xe.passes.distribute.attributes import attribute_of
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.ops.control_flow import ties
from codegen.xe.passes.distribute.rule import (
    refuse,
    shape_of,
    vector_shape,
)
from codegen.xe.passes.distribute.rules import rule_of


@dataclass(frozen=True)
class InsertLayoutConversionsPass(ModulePass):
    """Gives every operand the layout that its user derives for it. Kernels without layouts are not changed."""

    name = "insert-layout-conversions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in walk(op) if isinstance(f, FuncOp)]:
            if most_subgroups(func):
                insert_layout_conversions(func, most_subgroups(func))


def insert_layout_conversions(func: FuncOp, subgroups: int) -> dict[SSAValue, Layout]:
    """Insert the conversions of a kernel; return the layouts of all its values.

    Raises:
        PassFailedException: a layout does not distribute its value, or a conversion is impossible.
    """
    _reduce_before_converting(func)
    conversions = _Conversions(layouts_of(func, subgroups), subgroups)
    for op in list(walk(func)):
        with Rewriting(op):
            conversions.convert_operands(op)
    return conversions.layouts


def _reduce_before_converting(func: FuncOp) -> None:
    """Move conversions behind reductions that are their only use, so that only the result moves."""
    for op in walk(func):
        if type(op) is ConvertLayoutOp and all(
            isinstance(use.operation, MultiReductionOp) and use.index == 0 for use in op.result.uses
        ):
            op.properties["target_layout"] = op.input_layout


@dataclass(slots=True)
class _Conversions:
    layouts: dict[SSAValue, Layout]
    subgroups: int
    _made: dict[tuple[SSAValue, Layout], SSAValue] = field(default_factory=dict[tuple[SSAValue, Layout], SSAValue])

    def convert_operands(self, op: Operation) -> None:
        rule = rule_of(op)
        if rule is not None:
            layout = next((self.layouts[result] for result in op.results if result in self.layouts), None)
            for number, need in enumerate(rule.operands(op, layout, self.layouts)):
                self._convert(op, number, need)
        for tie in ties(op):
            for passed in (*tie.strong, *tie.weak):
                self._convert(passed.op, passed.number, self.layouts.get(tie.ends[0]))

    def _convert(self, op: Operation, number: int, need: Layout | None) -> None:
        if need is None:
            return
        before = op.operands[number]
        if (after := self._converted(before, need)) is not before:
            op.operands[number] = after

    def _converted(self, value: SSAValue, need: Layout) -> SSAValue:
        shape = vector_shape(value)
        if self.layouts[value].same_as(need, shape):
            return value
        key = value, need.settled(shape)
        if key not in self._made:
            self._made[key] = self._again(value, need) if self._is_cheap(value) else self._moved(value, need)
        return self._made[key]

    def _is_cheap(self, value: SSAValue) -> bool:
        """True if a value can be recomputed from values that every sub-group has."""
        op = value.owner
        if not isinstance(op, Operation):
            return False
        rule = rule_of(op)
        return (
            rule is not None
            and rule.recomputed
            and all(self._is_cheap(operand) for operand in op.operands if shape_of(operand) is not None)
        )

    def _again(self, value: SSAValue, need: Layout) -> SSAValue:
        op = value.owner
        assert isinstance(op, Operation)
        rule = rule_of(op)
        assert rule is not None
        new = op.clone()
        new.attributes.pop("layout_result_0", None)
        Rewriter.insert_op(new, InsertPoint.after(op))
        for result in new.results:
            self.layouts[result] = need
        for number, operand in enumerate(rule.operands(new, need, self.layouts)):
            self._convert(new, number, operand)
        return new.results[op.results.index(value)]

    def _moved(self, value: SSAValue, need: Layout) -> SSAValue:
        if not isinstance(value.type, VectorType):
            raise refuse("a scattered descriptor to be used in the layout that it has", value.type)
        before = self.layouts[value]
        op = ConvertLayoutOp(value, attribute_of(before, self.subgroups), attribute_of(need, self.subgroups))
        op.result.name_hint = value.name_hint
        at = InsertPoint.after(value.owner) if isinstance(value.owner, Operation) else InsertPoint.at_start(value.owner)
        Rewriter.insert_op(op, at)
        if isinstance(value.owner, Operation):
            locate(op, value.owner)
        self.layouts[op.result] = need
        return op.result
