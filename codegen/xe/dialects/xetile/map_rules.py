"""Maps of operands derived from those of results. Source: XeTile RFC, "Workgroup Level XeTile"."""

from collections.abc import Callable
from math import prod
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
    format_ints,
)
from codegen.xe.dialects.xetile.tile import TileType


def transposed_source(result: WgMap) -> WgMap:
    """Return the map of the source of a transpose: both entries swapped."""
    return WgMap.of(result.sg_layout[::-1], result.sg_data[::-1])


def reduced_source(result: WgMap, dims: Ints, shape: Ints) -> WgMap:
    """Return the map of a reduction's source of that shape: each sub-group owns whole reduced dimensions."""
    return WgMap.of(result.sg_layout, tuple(shape[d] if d in dims else e for d, e in enumerate(result.sg_data)))


def broadcast_source(result: WgMap, dims: Ints) -> WgMap:
    """Return the map of the source of a broadcast: one element in the repeated dimensions."""
    return WgMap.of(result.sg_layout, tuple(1 if d in dims else e for d, e in enumerate(result.sg_data)))


def mma_sources(result: WgMap, depth: int) -> tuple[WgMap, WgMap]:
    """Return the maps of A and B of a tile_mma of depth K: all of K, and the rows and columns of C."""
    m, n = result.sg_data
    return WgMap.of(result.sg_layout, (m, depth)), WgMap.of(result.sg_layout, (depth, n))


def stated_map(value: SSAValue) -> WgMap | None:
    """Return the map that the producer of a value states: for its result, or of the tile that it reads."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    tiles = [o.type.traits.wg_map for o in owner.operands if isinstance(o.type, TileType)]
    stated = [owner.properties.get("wg_map_result"), owner.properties.get("wg_map_c"), owner.attributes.get("map")]
    return next((m for m in (*stated, *tiles) if isinstance(m, WgMap)), None)


def same_owners(a: WgMap, b: WgMap, shape: Ints) -> bool:
    """True if two maps give each sub-group the same blocks in the same rounds."""
    return a == b or (a.sg_data == b.sg_data and a.owned(shape) == b.owned(shape))


def transposes_in_registers(source: WgMap, result: WgMap, shape: Ints) -> bool:
    """True if each sub-group owns the same elements of the source and of the transposed result."""
    swapped = tuple(tuple((r, c) for c, r in blocks) for blocks in result.owned(shape[::-1]))
    return source.sg_data == result.sg_data[::-1] and [*map(sorted, source.owned(shape))] == [*map(sorted, swapped)]


def verify_source(
    op: str, source: SSAValue, stated: WgMap | None, derived: WgMap | None, agrees: Callable[[WgMap], bool]
) -> None:
    """Check that the maps of a source agree: the operation's, the derived one, and the producer's.

    Raises:
        VerifyException: otherwise.
    """
    if stated is not None and derived is not None and not agrees(stated):
        raise VerifyException(f"{op}: expected wg_map_source {_text(derived)} for that result, got {_text(stated)}")
    produced, expected = stated_map(source), stated or derived
    if produced is None or expected is None:
        return
    shape = cast(VectorType, source.type).get_shape()
    if not (agrees(produced) if stated is None else same_owners(produced, stated, shape)):
        raise VerifyException(
            f"{op}: expected a source with {_text(expected)}, got one with {_text(produced)}: convert_layout changes it"
        )


def verify_same_subgroups(op: str, source: SSAValue, result: WgMap | None, stated: WgMap | None) -> None:
    """Check that the maps of source and result have the same number of sub-groups.

    Raises:
        VerifyException: otherwise.
    """
    before = stated or stated_map(source)
    if result is not None and before is not None and prod(before.sg_layout) != prod(result.sg_layout):
        raise VerifyException(
            f"{op}: expected as many sub-groups in both maps, "
            f"got {prod(before.sg_layout)} of the source and {prod(result.sg_layout)} of the result"
        )


def _text(wg_map: WgMap) -> str:
    return f"sg_layout {format_ints(wg_map.sg_layout)}, sg_data {format_ints(wg_map.sg_data)}"
