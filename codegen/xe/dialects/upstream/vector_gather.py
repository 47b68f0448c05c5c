"""vector.gather and vector.scatter: elements of a memref at indices along its last dimension."""

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, TensorType, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

__all__ = ["GatherOp", "ScatterOp"]


@irdl_op_definition
class GatherOp(IRDLOperation):
    """The elements at `offsets` and `indices`; those of `pass_thru` where the mask is false."""

    name = "vector.gather"
    base = operand_def()
    offsets = var_operand_def(IndexType)
    indices = operand_def(VectorType)
    mask = operand_def(VectorType)
    pass_thru = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, attributes = _parse(parser)
        parser.parse_keyword("into")
        return cls.build(operands=operands, result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print(printer, self, self.base, self.offsets, (self.indices, self.mask, self.pass_thru))
        printer.print_string(" into ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        _verify(self, self.base.type, len(self.offsets), (self.indices.type, self.mask.type, self.result.type))
        if self.pass_thru.type != self.result.type:
            raise VerifyException(f"vector.gather: expected {self.result.type} to pass, got {self.pass_thru.type}")


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """Store elements at `offsets` and `indices` where the mask is true."""

    name = "vector.scatter"
    base = operand_def(MemRefType)
    offsets = var_operand_def(IndexType)
    indices = operand_def(VectorType)
    mask = operand_def(VectorType)
    value = operand_def(VectorType)
    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, attributes = _parse(parser)
        return cls.build(operands=operands, attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print(printer, self, self.base, self.offsets, (self.indices, self.mask, self.value))

    def verify_(self) -> None:
        _verify(self, self.base.type, len(self.offsets), (self.indices.type, self.mask.type, self.value.type))


def _parse(parser: Parser) -> tuple[list[SSAValue | Sequence[SSAValue]], dict[str, Attribute]]:
    """Parse `%base[%i, %j] [%indices], %mask, %value {...} : types`."""
    base = parser.parse_unresolved_operand()
    offsets = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType()))
    (indices,) = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
    names = [base, indices]
    for _ in range(2):
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    at = parser.pos
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    memory, *vectors = parser.resolve_operands(names, types, at)
    return [memory, offsets, *vectors], attributes


def _print(
    printer: Printer, op: IRDLOperation, base: SSAValue, offsets: Sequence[SSAValue], vectors: Sequence[SSAValue]
) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(base)
    with printer.in_square_brackets():
        printer.print_list(offsets, printer.print_ssa_value)
    printer.print_string(" ")
    with printer.in_square_brackets():
        printer.print_ssa_value(vectors[0])
    for vector in vectors[1:]:
        printer.print_string(", ")
        printer.print_ssa_value(vector)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_list([base.type, *(v.type for v in vectors)], printer.print_attribute)


def _verify(op: IRDLOperation, base: Attribute, offsets: int, types: Sequence[Attribute]) -> None:
    if not isinstance(base, MemRefType | TensorType):
        raise VerifyException(f"{op.name}: expected a memref or a tensor, got {base}")
    indices, mask, value = (cast("VectorType[Attribute]", type_) for type_ in types)
    if offsets != base.get_num_dims():
        raise VerifyException(f"{op.name}: expected {base.get_num_dims()} offsets for {base}, got {offsets}")
    if value.element_type != base.element_type:
        raise VerifyException(f"{op.name}: expected elements of {base.element_type}, got {value}")
    if not isinstance(indices.element_type, IndexType | IntegerType):
        raise VerifyException(f"{op.name}: expected indices that are integers, got {indices}")
    if indices.get_shape() != value.get_shape() or mask != VectorType(i1, value.get_shape()):
        raise VerifyException(f"{op.name}: expected indices and a mask of the shape of {value}, got {indices}, {mask}")
