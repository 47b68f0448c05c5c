"""XeTile operations that load, store and prefetch tiles."""

from typing import Self, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
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

from codegen.dialects.cache_hint import HINTS, CachePolicy, TileCacheHint
from codegen.dialects.maps import format_ints
from codegen.dialects.tile import TileType

_NEAREST_CACHE = {3: 0, 2: 1, 1: 2, 0: 3}  # RFC appendix 2.5: locality<3> is for the first level, <2> for the second


@irdl_op_definition
class LoadTileOp(IRDLOperation):
    """The values of a tile as a vector; `padding` (default 0) where the tile leaves the matrix.

    A tile with array_length L gives L vectors, of neighbouring blocks.
    """

    name = "xetile.load_tile"
    tile = operand_def(TileType)
    values = var_result_def(VectorType)
    padding = opt_prop_def(Attribute)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryReadEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tile attr-dict `:` type($tile) `->` type($values)"

    def __init__(self, tile: SSAValue) -> None:
        tile_type = cast(TileType, tile.type)
        super().__init__(operands=[tile], result_types=[[tile_type.vector_type] * tile_type.traits.array_length])

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
        length = self.tile_type.traits.array_length
        if len(self.values) != length:
            raise VerifyException(f"load_tile: expected {length} results for array_length, got {len(self.values)}")
        for value in self.values:
            _verify_value("load_tile", value.type, self.tile_type)
        if self.padding is not None:
            _verify_padding(self.padding, self.tile_type.element_type)


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
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$value `,` $tile attr-dict `:` type($value) `,` type($tile)"

    def __init__(self, value: SSAValue, tile: SSAValue) -> None:
        super().__init__(operands=[value, tile])

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    def verify_(self) -> None:
        if self.tile_type.traits.array_length != 1:
            raise VerifyException(
                f"store_tile: expected a tile without array_length, got {self.tile_type.traits.array_length}"
            )
        _verify_value("store_tile", self.value.type, self.tile_type)


@irdl_op_definition
class PrefetchTileOp(IRDLOperation):
    """Bring a tile into caches. No effect on values. `locality<n>` is read as hints."""

    name = "xetile.prefetch_tile"
    tile = operand_def(TileType)
    l1_hint = opt_prop_def(TileCacheHint)
    l2_hint = opt_prop_def(TileCacheHint)
    l3_hint = opt_prop_def(TileCacheHint)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        tile: SSAValue,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[tile], properties=properties, attributes=attributes)

    @property
    def tile_type(self) -> TileType:
        """Type of the tile."""
        return cast(TileType, self.tile.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tile = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("locality"):
            with parser.in_angle_brackets():
                locality = parser.parse_integer()
            if locality not in _NEAREST_CACHE:
                parser.raise_error(f"prefetch_tile: expected locality 0 to 3, got {locality}")
            for level, hint in enumerate(HINTS):
                far = level >= _NEAREST_CACHE[locality]
                properties[hint] = TileCacheHint(CachePolicy.CACHED if far else CachePolicy.UNCACHED)
        attributes = parser.parse_optional_attr_dict()
        properties |= {hint: attributes.pop(hint) for hint in HINTS if hint in attributes}
        parser.parse_punctuation(":")
        return cls(parser.resolve_operand(tile, parser.parse_type()), properties, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_op_attributes(self.properties | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)


def _verify_value(op: str, value: Attribute, tile: TileType) -> None:
    """Check that a vector holds what a tile names."""
    assert isinstance(value, VectorType)
    if tile.traits.scattered:
        raise VerifyException(f"{op}: expected a tile that is not scattered, got {tile}")
    if value.element_type != tile.element_type:
        raise VerifyException(f"{op}: expected a vector of {tile.element_type}, got {value}")
    if value.get_shape() not in tile.value_shapes:
        expected = " or ".join(format_ints(shape) for shape in tile.value_shapes)
        raise VerifyException(f"{op}: expected a vector of shape {expected}, got {format_ints(value.get_shape())}")


def _verify_padding(padding: Attribute, element: Attribute) -> None:
    kind = FloatAttr if isinstance(element, AnyFloat) else IntegerAttr
    if not isinstance(padding, kind):
        raise VerifyException(f"load_tile: expected padding that is a number like {element}, got {padding}")
