"""XeGPU's operations on values: dpas and convert_layout."""

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from codegen.dialects.xegpu_layout import LayoutAttr, SgMapAttr, SliceAttr


@irdl_op_definition
class DpasOp(IRDLOperation):
    """`d = a @ b + c` (or `a @ b`), a [M, K], b [K, N], c and d [M, N].

    Elements of less than 32 bits may be in words: b [K/v, N, v], and a [M, K/v, v] too, v elements being a word.
    """

    name = "xegpu.dpas"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = opt_operand_def(VectorType)
    layout_a = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    layout_b = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    layout_cd = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    d = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue | None, d: Attribute, properties: dict[str, Attribute]
    ) -> None:
        super().__init__(operands=[a, b, c], result_types=[d], properties=properties)


@irdl_op_definition
class ConvertLayoutOp(IRDLOperation):
    """The same value, distributed by another layout."""

    name = "xegpu.convert_layout"
    source = operand_def(VectorType)
    input_layout = prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    target_layout = prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        input_layout: Attribute,
        target_layout: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[source],
            result_types=[source.type],
            properties={"input_layout": input_layout, "target_layout": target_layout},
            attributes=attributes,
        )
