"""The memref dialect of kernels and hosts: xDSL's, with MLIR's pretty syntax where xDSL has none."""

from collections.abc import Sequence
from typing import Any, Self, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BuiltinAttribute, Dialect, Operation, ParametrizedAttribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.kinds import (
    AtomicKind,
    verify_kind,
)

__all__ = ["AtomicRmwOp", "MemRef", "TransposeOp"]


@irdl_attr_definition
class DenseText(ParametrizedAttribute, BuiltinAttribute):
    """`dense<...> : tensor<...>`, unparsed."""

    name = "memref.dense_text"
    body: StringAttr = param_def()
    tensor: TensorType[Attribute] = param_def()

    def __init__(self, body: str, tensor: TensorType[Attribute]) -> None:
        super().__init__(StringAttr(body), tensor)

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string(f"dense<{self.body.data}> : ")
        printer.print_attribute(self.tensor)


class CastOp(memref.CastOp):
    """`memref.cast %a : memref<4xf32> to memref<*xf32>`."""

    name = "memref.cast"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, dest, attributes = _parse_cast(parser)
        return cls.build(operands=[source], result_types=[dest], attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print_pair(printer, self, (self.source.type, self.dest.type))


class MemorySpaceCastOp(memref.MemorySpaceCastOp):
    """`memref.memory_space_cast %a : memref<4xf32> to memref<4xf32, 3>`."""

    name = "memref.memory_space_cast"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, dest, attributes = _parse_cast(parser)
        return cls.build(operands=[source], result_types=[dest], attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print_pair(printer, self, (self.source.type, self.dest.type))


class CopyOp(memref.CopyOp):
    """`memref.copy %from, %into : memref<4xf32> to memref<4xf32>`."""

    name = "memref.copy"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        destination = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        values = [parser.resolve_operand(source, parser.parse_type())]
        parser.parse_keyword("to")
        values.append(parser.resolve_operand(destination, parser.parse_type()))
        return cls.build(operands=values, attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print_pair(printer, self, (self.source.type, self.destination.type))


class ExtractAlignedPointerAsIndexOp(memref.ExtractAlignedPointerAsIndexOp):
    """`memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index`."""

    name = "memref.extract_aligned_pointer_as_index"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.build(operands=[value], result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.source.type, self.aligned_pointer.type), printer.print_attribute, " -> ")


class AtomicRmwOp(memref.AtomicRMWOp):
    """`memref.atomic_rmw addf %value, %a[%i] : (f32, memref<4xf32>) -> f32`: each work-item updates one element."""

    name = "memref.atomic_rmw"

    @property
    def update(self) -> AtomicKind:
        """Kind of the update."""
        return list(AtomicKind)[self.kind.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_str_enum(AtomicKind)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        source = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType()))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        with parser.in_parens():
            updated = parser.resolve_operand(value, parser.parse_type())
            parser.parse_punctuation(",")
            memory = parser.resolve_operand(source, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.build(
            operands=[updated, memory, indices],
            result_types=[parser.parse_type()],
            properties={"kind": IntegerAttr(kind.number, i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.update.value} ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : (")
        printer.print_list((self.value.type, self.memref.type), printer.print_attribute)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        rank = cast(MemRefType, self.memref.type).get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"memref.atomic_rmw: expected {rank} indices, got {len(self.indices)}")
        if not 0 <= self.kind.value.data < len(AtomicKind):
            raise VerifyException(f"memref.atomic_rmw: expected a kind below {len(AtomicKind)}, got {self.kind}")
        verify_kind("memref.atomic_rmw", self.update, self.value.type)


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """The same memory with its dimensions permuted: `memref.transpose %a (i, j) -> (j, i) : A to B`."""

    name = "memref.transpose"
    source = operand_def(MemRefType)
    result = result_def(MemRefType)
    permutation = prop_def(AffineMapAttr)
    traits = traits_def(Pure())

    @property
    def dims(self) -> tuple[int, ...]:
        """Dimension of the source for each dimension of the result."""
        found = (r.position if isinstance(r, AffineDimExpr) else -1 for r in self.permutation.data.results)
        return tuple(found)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        before = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
        parser.parse_punctuation("->")
        after = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
        if sorted(before) != sorted(after) or len(set(before)) != len(before):
            parser.raise_error(f"memref.transpose: expected a permutation of {before}, got {after}")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_keyword("to")
        dims = AffineMap(len(before), 0, tuple(AffineExpr.dimension(before.index(name)) for name in after))
        return cls.build(
            operands=[source],
            result_types=[parser.parse_type()],
            properties={"permutation": AffineMapAttr(dims)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        names = [f"d{i}" for i in range(len(self.dims))]
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" ({', '.join(names)}) -> ({', '.join(names[d] for d in self.dims)})")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.source.type, self.result.type), printer.print_attribute, " to ")

    def verify_(self) -> None:
        shape = cast(MemRefType, self.source.type).get_shape()
        if sorted(self.dims) != list(range(len(shape))):
            raise VerifyException(
                f"memref.transpose: expected a permutation of {len(shape)} dimensions, got {self.dims}"
            )
        expected = tuple(shape[d] for d in self.dims)
        if self.result.type.get_shape() != expected:
            raise VerifyException(
                f"memref.transpose: expected a result of shape {expected}, got {self.result.type.get_shape()}"
            )


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """`memref.global "private" constant @name : memref<4xf32> = dense<1.0>`; external without a value."""

    name = "memref.global"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = opt_prop_def(Attribute)
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(Attribute)
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if (visibility := parser.parse_optional_str_literal()) is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        if parser.parse_optional_keyword("constant"):
            properties["constant"] = UnitAttr()
        properties["sym_name"] = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        properties["type"] = parser.parse_type()
        if parser.parse_optional_punctuation("="):
            given = parser.parse_optional_keyword("uninitialized")
            properties["initial_value"] = UnitAttr() if given else _parse_value(parser, properties["type"])
        attributes = parser.parse_optional_attr_dict()
        if "alignment" in attributes:
            properties["alignment"] = attributes.pop("alignment")
        return cls.build(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.sym_visibility.data)
        printer.print_string(" constant " if self.constant is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if isinstance(self.initial_value, UnitAttr):
            printer.print_string(" = uninitialized")
        elif self.initial_value is not None:
            printer.print_string(f" = {_without_type(self.initial_value)}")
        alignment = {} if self.alignment is None else {"alignment": self.alignment}
        printer.print_op_attributes(alignment | self.attributes)


def _parse_value(parser: Parser, memref_type: Attribute) -> Attribute:
    """Parse `dense<...>` as text, since a splat would expand to a long list."""
    if not isinstance(memref_type, MemRefType):
        parser.raise_error(f"memref.global: expected a memref, got {memref_type}")
    parser.parse_keyword("dense")
    body: str = cast(Any, parser)._parse_dialect_symbol_body()  # no public API for the text in brackets
    return DenseText(body, TensorType(memref_type.element_type, memref_type.get_shape()))


def _without_type(value: Attribute) -> str:
    if isinstance(value, DenseText):
        return f"dense<{value.body.data}>"
    return str(value).rpartition(" : ")[0]


def _parse_cast(parser: Parser) -> tuple[SSAValue, Attribute, dict[str, Attribute]]:
    """Parse `%a {attributes} : type to type`."""
    operand = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    source = parser.resolve_operand(operand, parser.parse_type())
    parser.parse_keyword("to")
    return source, parser.parse_type(), attributes


def _print_pair(printer: Printer, op: Operation, types: Sequence[Attribute]) -> None:
    """Print `%a, %b {attributes} : type to type`."""
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_list(types, printer.print_attribute, " to ")


_OURS = {
    op.name: op for op in (AtomicRmwOp, CastOp, CopyOp, ExtractAlignedPointerAsIndexOp, GlobalOp, MemorySpaceCastOp)
}

MemRef = Dialect(
    "memref",
    [*(_OURS.get(op.name, op) for op in memref.MemRef.operations), TransposeOp],
    list(memref.MemRef.attributes),
)
