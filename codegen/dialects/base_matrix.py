"""The matrix that a tile lies in: what `init_tile` must say of it, and in which order it is stored."""

from xdsl.dialects.builtin import AffineMapAttr, IntAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import VerifyException

from codegen.dialects.index_list import Index
from codegen.dialects.maps import Ints, format_ints
from codegen.dialects.tile_attr import COLUMN_MAJOR, ROW_MAJOR

_SWAPPED = AffineMap.from_callable(lambda d0, d1: (d1, d0))
_IDENTITY = AffineMap.identity(2)


def verify_extent(base: Attribute, rank: int, sizes: tuple[Index, ...], strides: tuple[Index, ...]) -> None:
    """Check that sizes and strides are given where the type does not say them, and only there.

    Raises:
        VerifyException: they are not.
    """
    if isinstance(base, MemRefType) and base.has_static_shape():
        if sizes or strides:
            raise VerifyException(f"init_tile: expected no sizes and strides for the static {base}, got some")
    elif len(sizes) != rank or len(strides) != rank:
        raise VerifyException(
            f"init_tile: expected {rank} sizes and {rank} strides for {base}, got {len(sizes)} and {len(strides)}"
        )


def verify_order(base: Attribute, strides: tuple[Index, ...], order: Ints) -> None:
    """Check that the order of a tile is the order in which its matrix is stored.

    Raises:
        VerifyException: it is not.
    """
    stored = _orders(base, strides)
    if not stored:
        raise VerifyException(f"init_tile: expected a base with one contiguous dimension of the last two, got {base}")
    if order not in stored:
        raise VerifyException(
            f"init_tile: expected order {format_ints(stored[0])} as {base} is stored, got {format_ints(order)}"
        )


def _orders(base: Attribute, strides: tuple[Index, ...]) -> tuple[Ints, ...]:
    """The orders that agree with how the base is stored."""
    layout = base.layout if isinstance(base, MemRefType) else NoneAttr()
    if isinstance(layout, AffineMapAttr):
        return {_IDENTITY: (ROW_MAJOR,), _SWAPPED: (COLUMN_MAJOR,)}.get(layout.data, ())
    if isinstance(layout, StridedLayoutAttr):
        strides = tuple(s.data if isinstance(s, IntAttr) else -1 for s in layout.strides)
    elif isinstance(base, MemRefType) and not strides:
        return (ROW_MAJOR,)
    row, column = (s if isinstance(s, int) else None for s in strides[-2:])
    found = (ROW_MAJOR,) if column == 1 else ()
    if row == 1:
        found += (COLUMN_MAJOR,)
    unknown = not isinstance(layout, StridedLayoutAttr) and None in (row, column)
    return found or ((ROW_MAJOR, COLUMN_MAJOR) if unknown else ())
