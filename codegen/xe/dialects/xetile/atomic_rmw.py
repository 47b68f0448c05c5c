"""`xetile.atomic_rmw`: element-wise atomic update of a tile in memory."""

from typing import Self, cast

from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.kinds import (
    AtomicKind,
    AtomicKindAttr,
    verify_kind,
)
from codegen.xe.dialects.spellings import (
    parse_arrow,
    parse_attributes,
    parse_listed_types,
    parse_operands,
    parse_type,
    print_attributes,
    resolve,
)
from codegen.xe.dialects.xetile.tile import TileType, verify_value

_SHORT = {"add": (AtomicKind.ADDF, AtomicKind.ADDI), "mul": (AtomicKind.MULF, AtomicKind.MULI)}
"""Kinds that the RFC writes without a type: (for floats, for integers)."""


@irdl_op_definition
class AtomicRmwOp(IRDLOperation):
    """Combine `value` into the tile in memory; the result is the old value."""

    name = "xetile.atomic_rmw"
    kind = prop_def(AtomicKindAttr)
    value = operand_def(VectorType)
    tile = operand_def(TileType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        kind: AtomicKind,
        value: SSAValue,
        tile: SSAValue,
        result: Attribute | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[value, tile],
            result_types=[result or value.type],
            properties={"kind": AtomicKindAttr(kind)},
            attributes=attributes,
        )

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        written = _parse_kind(parser)
        parser.parse_optional_punctuation(",")
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        values = resolve(parser, operands, parse_listed_types(parser))
        if len(values) != 2 or not isinstance(values[1].type, TileType):
            parser.raise_error("atomic_rmw: expected a vector and a tile")
        value, tile = values
        parse_arrow(parser)
        result = parse_type(parser)
        kind = _kind(parser, written, values[1].type.element_type)
        return cls(kind, value, tile, result, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(printer, self, ("kind",))
        printer.print_string(" : ")
        printer.print_list(self.operands, lambda v: printer.print_attribute(v.type))
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        tile = self.tile_type
        if tile.traits.array_length != 1:
            raise VerifyException(f"atomic_rmw: expected a tile without array_length, got {tile.traits.array_length}")
        verify_value("atomic_rmw", self.value.type, tile)
        if self.result.type != self.value.type:
            raise VerifyException(
                f"atomic_rmw: expected value and result of one type, got {self.value.type} and {self.result.type}"
            )
        verify_kind("atomic_rmw", self.kind.data, tile.element_type)


def _parse_kind(parser: Parser) -> str:
    """Parse `addf`, `<addf>` or `"addf"`."""
    if parser.parse_optional_punctuation("<"):
        word = parser.parse_identifier()
        parser.parse_punctuation(">")
        return word
    return parser.parse_identifier_or_str_literal()


def _kind(parser: Parser, word: str, element: Attribute) -> AtomicKind:
    if word in _SHORT:
        return _SHORT[word][0 if isinstance(element, AnyFloat) else 1]
    if word not in set(AtomicKind):
        parser.raise_error(f"atomic_rmw: expected one of {', '.join(AtomicKind)}, got {word}")
    return AtomicKind(word)
