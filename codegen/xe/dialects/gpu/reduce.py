"""The gpu dialect's reduction over the work-items of a sub-group."""

from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, VectorType, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.kinds import (
    ReductionKind,
    verify_kind,
)

_CLUSTER = ("size", "stride")


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReductionKind], SpacedOpaqueSyntaxAttribute):
    """`#gpu<all_reduce_op add>`."""

    name = "gpu.all_reduce_op"


@irdl_op_definition
class SubgroupReduceOp(IRDLOperation):
    """Combine the values of the work-items of a sub-group; with a cluster those of `size`, each `stride` apart."""

    name = "gpu.subgroup_reduce"
    T: ClassVar = VarConstraint("T", AnyAttr())
    value = operand_def(T)
    op = prop_def(ReduceKindAttr)
    uniform = opt_prop_def(UnitAttr)
    cluster_size = opt_prop_def(IntegerAttr[IntegerType])
    cluster_stride = opt_prop_def(IntegerAttr[IntegerType])
    result = result_def(T)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())  # all work-items take part: it must not be moved

    @property
    def kind(self) -> ReductionKind:
        """Kind of the combination."""
        return self.op.data

    @property
    def cluster(self) -> tuple[int | None, int]:
        """Work-items that are combined, None for all of the sub-group, and the distance between them."""
        size, stride = self.cluster_size, self.cluster_stride
        return None if size is None else size.value.data, 1 if stride is None else stride.value.data

    @property
    def element(self) -> Attribute:
        """Type of the elements that are combined."""
        return self.value.type.element_type if isinstance(self.value.type, VectorType) else self.value.type

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"op": ReduceKindAttr(parser.parse_str_enum(ReductionKind))}
        value = parser.parse_unresolved_operand()
        if parser.parse_optional_keyword("uniform"):
            properties["uniform"] = UnitAttr()
        if parser.parse_optional_keyword("cluster"):
            with parser.in_parens():
                for key in _CLUSTER:
                    if key != _CLUSTER[0] and parser.parse_optional_punctuation(",") is None:
                        break
                    parser.parse_keyword(key)
                    parser.parse_punctuation("=")
                    properties[f"cluster_{key}"] = IntegerAttr(parser.parse_integer(), i32)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        with parser.in_parens():
            source = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.build(
            operands=[source], result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.value} ")
        printer.print_ssa_value(self.value)
        if self.uniform is not None:
            printer.print_string(" uniform")
        size, stride = self.cluster
        if size is not None:
            printer.print_string(f" cluster(size = {size}{'' if stride == 1 else f', stride = {stride}'})")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : (")
        printer.print_attribute(self.value.type)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        verify_kind("gpu.subgroup_reduce", self.kind, self.element)
        size, stride = self.cluster
        if size is None and self.cluster_stride is not None:
            raise VerifyException("gpu.subgroup_reduce: expected a cluster size with the stride, got none")
        for what, number in (("cluster size", size), ("cluster stride", stride)):
            if number is not None and (number < 1 or number & (number - 1)):
                raise VerifyException(f"gpu.subgroup_reduce: expected a {what} that is a power of 2, got {number}")
