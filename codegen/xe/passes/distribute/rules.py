"""The rules of all distributed operations."""

from xdsl.dialects.vector import FMAOp
from xdsl.ir import Operation

from codegen.xe.passes.distribute.ops.constants import CONSTANTS
from codegen.xe.passes.distribute.ops.contractions import CONTRACTIONS
from codegen.xe.passes.distribute.ops.conversions import CONVERSIONS
from codegen.xe.passes.distribute.ops.elementwise import (
    ELEMENTWISE,
    is_elementwise,
)
from codegen.xe.passes.distribute.ops.nd import BLOCKS
from codegen.xe.passes.distribute.ops.products import PRODUCTS
from codegen.xe.passes.distribute.ops.reductions import REDUCTIONS
from codegen.xe.passes.distribute.ops.scattered import SCATTERED
from codegen.xe.passes.distribute.ops.shapes import SHAPES
from codegen.xe.passes.distribute.ops.slices import SLICES
from codegen.xe.passes.distribute.ops.slm import MATRICES
from codegen.xe.passes.distribute.rule import (
    Rule,
    is_distributed,
)

_RULES: dict[type[Operation], Rule] = {
    **BLOCKS,
    **CONSTANTS,
    **CONTRACTIONS,
    **CONVERSIONS,
    **MATRICES,
    **PRODUCTS,
    **REDUCTIONS,
    **SCATTERED,
    **SHAPES,
    **SLICES,
    FMAOp: ELEMENTWISE,
}


def rule_of(op: Operation) -> Rule | None:
    """Return the rule of an operation; None without one, or if none of its values are distributed."""
    rule = _RULES.get(type(op))
    if rule is not None and type(op) in BLOCKS:
        return rule
    if not any(map(is_distributed, (*op.operands, *op.results))):
        return None
    if rule is None and is_elementwise(op):
        return ELEMENTWISE
    return rule
