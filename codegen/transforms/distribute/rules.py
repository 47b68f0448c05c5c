"""The rules of every operation that is distributed."""

from xdsl.dialects.vector import FMAOp
from xdsl.ir import Operation

from codegen.transforms.distribute.constants import CONSTANTS
from codegen.transforms.distribute.contractions import CONTRACTIONS
from codegen.transforms.distribute.conversions import CONVERSIONS
from codegen.transforms.distribute.elementwise import ELEMENTWISE, is_elementwise
from codegen.transforms.distribute.nd import BLOCKS
from codegen.transforms.distribute.products import PRODUCTS
from codegen.transforms.distribute.reductions import REDUCTIONS
from codegen.transforms.distribute.rule import Rule, shape_of
from codegen.transforms.distribute.scattered import SCATTERED
from codegen.transforms.distribute.shapes import SHAPES
from codegen.transforms.distribute.slices import SLICES
from codegen.transforms.distribute.slm import MATRICES

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
    """The rule of an operation; None where there is none, or nothing of it is distributed."""
    rule = _RULES.get(type(op))
    if rule is not None and type(op) in BLOCKS:
        return rule
    if all(shape_of(value) is None for value in (*op.operands, *op.results)):
        return None
    if rule is None and is_elementwise(op):
        return ELEMENTWISE
    return rule
