"""Tile type of XeTile, and checks of the vectors that hold its values."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, ShapedType, VectorType
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.elements import (
    verify_element,
    verify_static,
)
from codegen.xe.dialects.interned import vector
from codegen.xe.dialects.maps import (
    Ints,
    SgMap,
    WgMap,
    format_ints,
)
from codegen.xe.dialects.xetile.tile_attr import (
    DEFAULT_TRAITS,
    TileAttr,
    TileTraits,
    parse_traits,
)


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType):
    """A region of a matrix: `!xetile.tile<256x32xf16, #xetile.tile_attr<...>>`.

    A bare `#xetile.wg_map<...>` in place of the attribute is parsed as a tile_attr with that map.
    """

    name = "xetile.tile"
    vector_type: VectorType = param_def()
    attr: TileAttr = param_def()

    def __init__(self, shape: Ints, element_type: Attribute, traits: TileTraits = DEFAULT_TRAITS) -> None:
        super().__init__(vector(element_type, *shape), TileAttr(traits))

    @property
    def element_type(self) -> Attribute:
        """Type of one element."""
        return self.vector_type.element_type

    @property
    def traits(self) -> TileTraits:
        """Attributes of the tile, other than its shape and element type."""
        return self.attr.data

    def get_num_dims(self) -> int:
        return len(self.get_shape())

    def get_shape(self) -> tuple[int, ...]:
        return self.vector_type.get_shape()

    @property
    def value_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes that a value of this tile may have: the tile's, or blocked by inner_blocks."""
        shape, blocks = self.get_shape(), self.traits.inner_blocks
        if blocks is None:
            return (shape,)
        return shape, (shape[0] // blocks[0], shape[1] // blocks[1], *blocks)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            attr = _parse_encoding(parser)
        return [VectorType(element_type, shape), attr]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{d}x" for d in self.get_shape()))
            printer.print_attribute(self.element_type)
            if self.traits != DEFAULT_TRAITS:
                printer.print_string(", ")
                printer.print_attribute(self.attr)

    def verify(self) -> None:
        shape = self.get_shape()
        verify_static("xetile.tile", shape)
        verify_element("xetile.tile", self.element_type)
        wg_map, sg_map = self.traits.wg_map, self.traits.sg_map
        if wg_map is not None:
            wg_map.verify_distributes("xetile.tile", shape)
        if sg_map is not None:
            sg_map.verify_distributes("xetile.tile: sg_map", shape if wg_map is None else wg_map.sg_data)
        blocks = self.traits.inner_blocks
        if blocks is not None and (len(shape) != 2 or shape[0] % blocks[0] or shape[1] % blocks[1]):
            raise VerifyException(
                f"xetile.tile: expected a 2-D shape that inner_blocks {format_ints(blocks)} divide, "
                f"got {format_ints(shape)}"
            )


def _parse_encoding(parser: AttrParser) -> TileAttr:
    """Parse what follows the element type: nothing, a tile_attr, a wg_map, or (RFC) the keys of a tile_attr.

    The RFC's appendices omit the comma.
    """
    comma = parser.parse_optional_punctuation(",")
    attr = parser.parse_optional_attribute()
    if attr is None:
        return TileAttr(parse_traits(parser, parser.Delimiter.NONE) if comma else DEFAULT_TRAITS)
    if isinstance(attr, WgMap):
        return TileAttr(TileTraits(wg_map=attr))
    if isinstance(attr, SgMap):
        return TileAttr(TileTraits(sg_map=attr))
    if not isinstance(attr, TileAttr):
        parser.raise_error(f"tile: expected #xetile.tile_attr or #xetile.wg_map, got {attr}")
    return attr


def verify_indices(op: str, indices: Sequence[SSAValue], tile: TileType) -> None:
    """Check that a scattered tile has one vector of indices of its shape.

    Raises:
        VerifyException: otherwise.
    """
    types, expected = [v.type for v in indices], VectorType(IndexType(), tile.get_shape())
    if types != [expected]:
        raise VerifyException(f"{op}: expected indices {expected}, got {[str(t) for t in types]}")


def verify_value(op: str, value: Attribute, tile: TileType) -> None:
    """Check that a vector holds the values of a tile, as a matrix or in blocks.

    Raises:
        VerifyException: otherwise.
    """
    assert isinstance(value, VectorType)
    if value.element_type != tile.element_type:
        raise VerifyException(f"{op}: expected a vector of {tile.element_type}, got {value}")
    if value.get_shape() not in tile.value_shapes:
        expected = " or ".join(format_ints(shape) for shape in tile.value_shapes)
        raise VerifyException(f"{op}: expected a vector of shape {expected}, got {format_ints(value.get_shape())}")


def verify_regular(op: str, tile: TileType) -> None:
    """Check that a tile is a block of a matrix.

    Raises:
        VerifyException: it is scattered.
    """
    if tile.traits.scattered:
        raise VerifyException(f"{op}: expected a tile that is not scattered, got {tile}")


def verify_padding(op: str, padding: Attribute | None, element: Attribute) -> None:
    """Check that padding is a number of the element type; an integer also pads floats.

    Raises:
        VerifyException: otherwise.
    """
    kinds = (FloatAttr, IntegerAttr) if isinstance(element, AnyFloat) else IntegerAttr
    if padding is not None and not isinstance(padding, kinds):
        raise VerifyException(f"{op}: expected padding that is a number like {element}, got {padding}")
