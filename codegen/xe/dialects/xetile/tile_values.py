"""Checks of vectors that hold the values of a tile, and of padding."""

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xetile.tile import TileType


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
