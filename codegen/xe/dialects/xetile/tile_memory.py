"""XeTile operations that load, store and prefetch tiles."""

from collections.abc import Mapping, Sequence
from typing import Self, cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.cache_hint import (
    TileCacheHint,
    parse_optional_locality,
    verify_read_hints,
    verify_write_hints,
)
from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.spellings import (
    parse_arrow,
    parse_attributes,
    parse_listed_types,
    parse_operand_types,
    parse_operands,
    parse_type,
    print_attributes,
    resolve,
    take_properties,
)
from codegen.xe.dialects.xetile.tile import (
    TileType,
    verify_padding,
    verify_regular,
    verify_value,
)


@irdl_op_definition
class LoadTileOp(IRDLOperation):
    """The values of a tile as a vector; `padding` (default 0) outside the matrix.

    A tile with array_length L has L vectors, one per adjacent block.
    """

    name = "xetile.load_tile"
    tile = operand_def(TileType)
    values = var_result_def(VectorType)
    padding = opt_prop_def(Attribute)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        tile: SSAValue,
        values: Sequence[Attribute] | None = None,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        if values is None:
            tile_type = cast(TileType, tile.type)
            values = [tile_type.vector_type] * tile_type.traits.array_length
        initialise(self, (tile,), values, properties or {}, attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tile = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(tile, parse_type(parser))
        parse_arrow(parser)
        values = parse_listed_types(parser)
        properties, attributes = take_properties(cls, attributes)
        return cls(operand, values, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)
        printer.print_string(" -> ")
        printer.print_list(self.values, lambda v: printer.print_attribute(v.type))

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @property
    def value(self) -> SSAValue:
        """The only vector of a tile without array_length."""
        (value,) = self.values
        return value

    def verify_(self) -> None:
        verify_regular("load_tile", self.tile_type)
        length = self.tile_type.traits.array_length
        if len(self.values) != length:
            raise VerifyException(f"load_tile: expected {length} results for array_length, got {len(self.values)}")
        for value in self.values:
            verify_value("load_tile", value.type, self.tile_type)
        verify_padding("load_tile", self.padding, self.tile_type.element_type)
        verify_read_hints(self)


@irdl_op_definition
class StoreTileOp(IRDLOperation):
    """Store a vector to a tile; elements outside the matrix are dropped."""

    name = "xetile.store_tile"
    value = operand_def(VectorType)
    tile = operand_def(TileType)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        tile: SSAValue,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        initialise(self, (value, tile), (), properties or {}, attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        values = resolve(parser, operands, parse_operand_types(parser))
        values.sort(key=lambda v: isinstance(v.type, TileType))  # the RFC also writes the tile first
        if len(values) != 2 or not isinstance(values[1].type, TileType):
            parser.raise_error("store_tile: expected a vector and a tile")
        properties, attributes = take_properties(cls, attributes)
        return cls(*values, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list(self.operands, lambda v: printer.print_attribute(v.type))

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    def verify_(self) -> None:
        verify_regular("store_tile", self.tile_type)
        if self.tile_type.traits.array_length != 1:
            raise VerifyException(
                f"store_tile: expected a tile without array_length, got {self.tile_type.traits.array_length}"
            )
        verify_value("store_tile", self.value.type, self.tile_type)
        verify_write_hints(self)


@irdl_op_definition
class PrefetchTileOp(IRDLOperation):
    """Prefetch a tile into caches. No effect on values. `locality<n>` is parsed as hints."""

    name = "xetile.prefetch_tile"
    tile = operand_def(TileType)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        tile: SSAValue,
        properties: Mapping[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        initialise(self, (tile,), (), properties or {}, attributes)

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tile = parser.parse_unresolved_operand()
        properties = parse_optional_locality(parser, TileCacheHint)
        given, attributes = take_properties(cls, parse_attributes(parser)[0])
        properties |= given
        parser.parse_punctuation(":")
        return cls(parser.resolve_operand(tile, parse_type(parser)), properties, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_op_attributes(self.properties | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)

    def verify_(self) -> None:
        verify_read_hints(self)
