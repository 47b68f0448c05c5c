"""XeTile operations along a dimension: `xetile.reduction` reduces it to 1, `xetile.broadcast` repeats it."""

from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.kinds import (
    ReductionKind,
    ReductionKindAttr,
    verify_kind,
)
from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
    format_ints,
    parse_ints,
)
from codegen.xe.dialects.spellings import (
    ints,
    parse_arrow,
    parse_attributes,
    take_properties,
)
from codegen.xe.dialects.xetile.map_rules import (
    broadcast_source,
    reduced_source,
    same_owners,
    verify_source,
)
from codegen.xe.dialects.xetile.mapped_vector import (
    SOURCE_AND_RESULT,
    MappedVectorOp,
    name_maps,
    verify_shape,
)


@irdl_op_definition
class ReductionOp(MappedVectorOp):
    """Combine the elements along `reduction_dims`, which become 1. Blocked vectors reduce pairs, such as [1, 3]."""

    name = "xetile.reduction"
    kind = prop_def(ReductionKindAttr)
    reduction_dims = prop_def(DenseArrayBase[IntegerType])

    def __init__(
        self,
        kind: ReductionKind,
        source: SSAValue,
        dims: Ints,
        result: Attribute,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        given: dict[str, Attribute] = {
            "kind": ReductionKindAttr(kind),
            "reduction_dims": DenseArrayBase.from_list(i64, dims),
        }
        super().__init__(
            operands=[source], result_types=[result], properties=given | (properties or {}), attributes=attributes
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        maps = parse_attributes(parser)[1]  # the RFC's appendix writes the maps first
        kind = ReductionKindAttr.parse_parameter(parser)
        parser.parse_optional_punctuation(",")
        source = parser.parse_unresolved_operand()
        dims = parse_ints(parser)
        attributes, late = parse_attributes(parser)
        value, result = _parse_types(parser, source)
        properties, attributes = take_properties(cls, attributes)
        properties |= name_maps(parser, maps + late, SOURCE_AND_RESULT)
        return cls(kind, value, dims, result, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.kind.print_parameter(printer)
        printer.print_string(", ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" {format_ints(ints(self.reduction_dims))}")
        self.print_types(printer, ("kind", "reduction_dims"))

    def verify_(self) -> None:
        self.verify_vectors((2, 4))
        shape, dims = self.source_type.get_shape(), ints(self.reduction_dims)
        _verify_dims("reduction", dims, shape)
        verify_kind("reduction", self.kind.data, self.source_type.element_type)
        verify_shape("reduction", self.result, tuple(1 if d in dims else e for d, e in enumerate(shape)))
        derived = None if self.wg_map_result is None else reduced_source(self.wg_map_result, dims, shape)
        _verify_source(self, derived)


@irdl_op_definition
class BroadcastOp(MappedVectorOp):
    """Repeat the elements along `broadcast_dims`, which are 1 in the source. Blocked vectors repeat pairs ([1, 3])."""

    name = "xetile.broadcast"
    broadcast_dims = prop_def(DenseArrayBase[IntegerType])

    def __init__(
        self,
        source: SSAValue,
        dims: Ints,
        result: Attribute,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        given: dict[str, Attribute] = {"broadcast_dims": DenseArrayBase.from_list(i64, dims)}
        super().__init__(
            operands=[source], result_types=[result], properties=given | (properties or {}), attributes=attributes
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        maps = parse_attributes(parser)[1]
        source = parser.parse_unresolved_operand()
        parser.parse_optional_punctuation(",")
        dims = parse_ints(parser)
        attributes, late = parse_attributes(parser)
        value, result = _parse_types(parser, source)
        properties, attributes = take_properties(cls, attributes)
        properties |= name_maps(parser, maps + late, SOURCE_AND_RESULT)
        return cls(value, dims, result, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" {format_ints(ints(self.broadcast_dims))}")
        self.print_types(printer, ("broadcast_dims",))

    def verify_(self) -> None:
        self.verify_vectors((2, 4))
        source, result, dims = self.source_type.get_shape(), self.result_type.get_shape(), ints(self.broadcast_dims)
        _verify_dims("broadcast", dims, source)
        if any(source[d] != 1 for d in dims):
            raise VerifyException(
                f"broadcast: expected a source of 1 in {format_ints(dims)}, got shape {format_ints(source)}"
            )
        verify_shape("broadcast", self.result, tuple(result[d] if d in dims else e for d, e in enumerate(source)))
        derived = None if self.wg_map_result is None else broadcast_source(self.wg_map_result, dims)
        _verify_source(self, derived)


def _parse_types(parser: Parser, source: UnresolvedOperand) -> tuple[SSAValue, Attribute]:
    """Parse ` : source -> result`; the RFC once writes a comma for the colon."""
    if not parser.parse_optional_punctuation(","):
        parser.parse_punctuation(":")
    value = parser.resolve_operand(source, parser.parse_type())
    parse_arrow(parser)
    return value, parser.parse_type()


def _verify_source(op: MappedVectorOp, derived: WgMap | None) -> None:
    shape = op.source_type.get_shape()
    verify_source(
        op.name.removeprefix("xetile."),
        op.source,
        op.wg_map_source,
        derived,
        lambda m: derived is None or same_owners(m, derived, shape),
    )


def _verify_dims(op: str, dims: Ints, shape: Ints) -> None:
    """Check that dimensions rise and exist; for blocked vectors, that both parts of a dimension are given."""
    if not dims or list(dims) != sorted(set(dims)) or min(dims) < 0 or max(dims) >= len(shape):
        raise VerifyException(f"{op}: expected rising dimensions of {format_ints(shape)}, got {format_ints(dims)}")
    if len(shape) == 4 and {d % 2 for d in dims if d < 2} != {d % 2 for d in dims if d >= 2}:
        raise VerifyException(
            f"{op}: expected both parts of a blocked dimension, as [0, 2] or [1, 3], got {format_ints(dims)}"
        )
