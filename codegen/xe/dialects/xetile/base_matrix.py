"""The base matrix of a tile: the sizes, strides, memory space and order that `init_tile` must give."""

from functools import lru_cache

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AffineMapAttr, IntAttr, IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xetile.tile_attr import (
    COLUMN_MAJOR,
    GLOBAL_MEMORY,
    ROW_MAJOR,
    SHARED_LOCAL_MEMORY,
)

_KEPT = 64  # memory spaces
_SWAPPED = AffineMap.from_callable(lambda d0, d1: (d1, d0))
_IDENTITY = AffineMap.identity(2)
_SPACES: dict[int | str, int] = {
    str(NoneAttr()): GLOBAL_MEMORY,
    0: GLOBAL_MEMORY,
    1: GLOBAL_MEMORY,
    3: SHARED_LOCAL_MEMORY,
    "#gpu.address_space<global>": GLOBAL_MEMORY,
    "#gpu.address_space<workgroup>": SHARED_LOCAL_MEMORY,
}
"""The memory spaces of a memref, as numbers or as MLIR's gpu dialect names them."""


def verify_extent(base: Attribute, rank: int, sizes: tuple[Index, ...], strides: tuple[Index, ...]) -> None:
    """Check that sizes and strides are given if and only if the type is not static.

    Raises:
        VerifyException: otherwise.
    """
    if isinstance(base, MemRefType) and base.has_static_shape():
        if sizes or strides:
            raise VerifyException(f"init_tile: expected no sizes and strides for the static {base}, got some")
    elif len(sizes) != rank or len(strides) != rank:
        raise VerifyException(
            f"init_tile: expected {rank} sizes and {rank} strides for {base}, got {len(sizes)} and {len(strides)}"
        )


def verify_memory_space(base: Attribute, memory_space: int) -> None:
    """Check that a tile has the memory space of its matrix.

    Raises:
        VerifyException: otherwise.
    """
    if not isinstance(base, MemRefType):
        return
    known = _space_of(base.memory_space)
    if known is None:
        raise VerifyException(f"init_tile: expected a base in global (0, 1) or shared local memory (3), got {base}")
    if known != memory_space:
        raise VerifyException(f"init_tile: expected a tile of memory_space {known} for {base}, got {memory_space}")


@lru_cache(_KEPT)
def _space_of(attribute: Attribute) -> int | None:
    return _SPACES.get(attribute.value.data if isinstance(attribute, IntegerAttr) else str(attribute))


def verify_order(base: Attribute, strides: tuple[Index, ...], order: Ints) -> None:
    """Check that the order of a tile is the order in which its matrix is stored.

    Raises:
        VerifyException: otherwise.
    """
    stored = _orders(base, strides)
    if not stored:
        raise VerifyException(f"init_tile: expected a base with one contiguous dimension of the last two, got {base}")
    if order not in stored:
        raise VerifyException(
            f"init_tile: expected order {format_ints(stored[0])} as {base} is stored, got {format_ints(order)}"
        )


def _orders(base: Attribute, strides: tuple[Index, ...]) -> tuple[Ints, ...]:
    """Return the orders that agree with the storage of the base."""
    layout = base.layout if isinstance(base, MemRefType) else NoneAttr()
    if isinstance(layout, AffineMapAttr):
        return {_IDENTITY: (ROW_MAJOR,), _SWAPPED: (COLUMN_MAJOR,)}.get(layout.data, ())
    if isinstance(layout, StridedLayoutAttr):
        strides = tuple(s.data if isinstance(s, IntAttr) else -1 for s in layout.strides)
    elif isinstance(base, MemRefType) and not strides:
        return (ROW_MAJOR,)
    row, column = (_constant(s) for s in strides[-2:])
    found = (ROW_MAJOR,) if column == 1 else ()
    if row == 1:
        found += (COLUMN_MAJOR,)
    unknown = not isinstance(layout, StridedLayoutAttr) and None in (row, column)
    return found or ((ROW_MAJOR, COLUMN_MAJOR) if unknown else ())


def _constant(value: Index) -> int | None:
    """Return the number of a constant index, else None."""
    if isinstance(value, int):
        return value
    number = value.owner.value if isinstance(value.owner, ConstantOp) else None
    return number.value.data if isinstance(number, IntegerAttr) else None
