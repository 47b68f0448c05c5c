"""Operations of the vector dialect that combine vectors: interleave, deinterleave and outerproduct."""

from typing import Self, cast

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.kinds import reduction_kinds

__all__ = ["DeinterleaveOp", "InterleaveOp", "OuterProductOp"]


@irdl_op_definition
class InterleaveOp(IRDLOperation):
    """Elements of two vectors in turn: the innermost dimension is twice as long."""

    name = "vector.interleave"
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        result = parser.parse_type() if parser.parse_optional_punctuation("->") else _scaled(source, 2)
        operands = [parser.resolve_operand(name, source) for name in (lhs, rhs)]
        return cls.build(operands=operands, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.result.type), printer.print_attribute, " -> ")

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException(f"vector.interleave: expected two of {self.lhs.type}, got {self.rhs.type}")
        _verify_scaled(self, self.lhs.type, self.result.type)


@irdl_op_definition
class DeinterleaveOp(IRDLOperation):
    """The elements at even and those at odd positions of the innermost dimension."""

    name = "vector.deinterleave"
    source = operand_def(VectorType)
    res1 = result_def(VectorType)
    res2 = result_def(VectorType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        parser.parse_punctuation("->")
        half = parser.parse_type()
        return cls.build(operands=[value], result_types=[half, half], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.source.type, self.res1.type), printer.print_attribute, " -> ")

    def verify_(self) -> None:
        if self.res1.type != self.res2.type:
            raise VerifyException(f"vector.deinterleave: expected two of {self.res1.type}, got {self.res2.type}")
        _verify_scaled(self, self.res1.type, self.source.type)


def _scaled(type_: Attribute, factor: int) -> Attribute:
    if not isinstance(type_, VectorType) or not type_.get_shape():
        return type_
    *outer, inner = type_.get_shape()
    return VectorType(type_.element_type, (*outer, inner * factor))


def _verify_scaled(op: IRDLOperation, short: Attribute, long: Attribute) -> None:
    if _scaled(short, 2) != long or not cast(VectorType, short).get_shape():
        raise VerifyException(f"{op.name}: expected twice as many elements as in {short}, got {long}")


@irdl_op_definition
class OuterProductOp(IRDLOperation):
    """Products of all elements of two vectors, or of a vector and a scalar, combined with `acc` by `kind`."""

    name = "vector.outerproduct"
    lhs = operand_def(VectorType)
    rhs = operand_def()
    acc = opt_operand_def(VectorType)
    kind = opt_prop_def(CombiningKindAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        at = parser.pos
        names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        lhs = parser.parse_type()
        parser.parse_punctuation(",")
        rhs = parser.parse_type()
        result = _product(lhs, rhs)
        if result is None or len(names) not in (2, 3):
            parser.raise_error(f"{cls.name}: expected a vector of one dimension and a vector or a scalar", at)
        values = parser.resolve_operands(names, [lhs, rhs, result][: len(names)], at)
        properties = {"kind": attributes.pop("kind")} if "kind" in attributes else {}
        return cls.build(
            operands=[*values[:2], values[2:]], result_types=[result], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.properties | self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)

    @property
    def combining(self) -> str:
        """Kind of the combination with `acc`."""
        return "add" if self.kind is None else str(self.kind.data)

    def verify_(self) -> None:
        expected = _product(self.lhs.type, self.rhs.type)
        if expected is None or self.result.type != expected:
            raise VerifyException(
                f"vector.outerproduct: expected a result of {expected} for {self.lhs.type} and {self.rhs.type}, "
                f"got {self.result.type}"
            )
        if self.acc is not None and self.acc.type != expected:
            raise VerifyException(f"vector.outerproduct: expected acc of {expected}, got {self.acc.type}")
        kinds = tuple(map(str, reduction_kinds(self.result.type.element_type)))
        if self.combining not in kinds:
            raise VerifyException(f"vector.outerproduct: expected one of {', '.join(kinds)}, got {self.combining}")


def _product(lhs: Attribute, rhs: Attribute) -> VectorType[Attribute] | None:
    """Return the type of the product of a vector with a vector or a scalar; None if there is none."""
    if not isinstance(lhs, VectorType) or len(lhs.get_shape()) != 1:
        return None
    if not isinstance(rhs, VectorType):
        return lhs if rhs == lhs.element_type else None
    if len(rhs.get_shape()) != 1 or rhs.element_type != lhs.element_type:
        return None
    return VectorType(lhs.element_type, (*lhs.get_shape(), *rhs.get_shape()))
