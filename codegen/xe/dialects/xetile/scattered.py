"""XeTile operations on scattered tiles under a mask: `xetile.load` (gather) and `xetile.store` (scatter)."""

from typing import Self, cast

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.cache_hint import (
    TileCacheHint,
    verify_read_hints,
    verify_write_hints,
)
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
from codegen.xe.dialects.xetile.tile import TileType, verify_padding


@irdl_op_definition
class LoadOp(IRDLOperation):
    """The elements of a scattered tile as a vector; `padding` (default 0) where the mask is false."""

    name = "xetile.load"
    tile = operand_def(TileType)
    mask = opt_operand_def(VectorType)
    value = result_def(VectorType)
    padding = opt_prop_def(Attribute)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        tile: SSAValue,
        mask: SSAValue | None,
        value: Attribute | None = None,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[tile, mask],
            result_types=[value or cast(TileType, tile.type).vector_type],
            properties=properties,
            attributes=attributes,
        )

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        types = parse_listed_types(parser)
        tile, *mask = resolve(parser, operands, types)
        parse_arrow(parser)
        value = parse_type(parser)
        properties, attributes = take_properties(cls, attributes)
        return cls(tile, mask[0] if mask else None, value, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self)
        printer.print_string(" -> ")
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        _verify_access("load", self.tile_type, self.value, self.mask)
        verify_padding("load", self.padding, self.tile_type.element_type)
        verify_read_hints(self)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Store a vector to the elements of a scattered tile where the mask is true."""

    name = "xetile.store"
    value = operand_def(VectorType)
    tile = operand_def(TileType)
    mask = opt_operand_def(VectorType)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        tile: SSAValue,
        mask: SSAValue | None,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[value, tile, mask], properties=properties, attributes=attributes)

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        values = resolve(parser, operands, parse_operand_types(parser))
        tiles = [v for v in values if isinstance(v.type, TileType)]
        vectors = [v for v in values if not isinstance(v.type, TileType)]
        if len(tiles) != 1 or not 1 <= len(vectors) <= 2:
            parser.raise_error("store: expected a vector, a scattered tile and a mask")
        properties, attributes = take_properties(cls, attributes)
        mask = vectors[1] if len(vectors) == 2 else None
        return cls(vectors[0], tiles[0], mask, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self)

    def verify_(self) -> None:
        _verify_access("store", self.tile_type, self.value, self.mask)
        verify_write_hints(self)


def _print_operands(printer: Printer, op: LoadOp | StoreOp) -> None:
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    print_attributes(printer, op, ("operandSegmentSizes",))
    printer.print_string(" : ")
    printer.print_list(op.operands, lambda v: printer.print_attribute(v.type))


def _verify_access(op: str, tile: TileType, value: SSAValue, mask: SSAValue | None) -> None:
    if not tile.traits.scattered:
        raise VerifyException(f"{op}: expected a scattered tile, got {tile}: {op}_tile takes any other")
    if value.type != tile.vector_type:
        raise VerifyException(f"{op}: expected a value {tile.vector_type}, got {value.type}")
    expected = VectorType(i1, tile.get_shape())
    if mask is not None and mask.type != expected:
        raise VerifyException(f"{op}: expected a mask {expected}, got {mask.type}")
