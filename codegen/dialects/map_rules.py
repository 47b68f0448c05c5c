"""Which map the operand of an operation has, given that of its result. Source: XeTile RFC, "Workgroup Level XeTile"."""

from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from codegen.dialects.maps import Ints, WgMap, format_ints
from codegen.dialects.tile import TileType


def transposed_source(result: WgMap) -> WgMap:
    """The source of a transpose: both entries swapped."""
    return WgMap.of(result.sg_layout[::-1], result.sg_data[::-1])


def reduced_source(result: WgMap, dims: Ints, shape: Ints) -> WgMap:
    """The source, of that shape, of a reduction: a sub-group has all of what it reduces."""
    return WgMap.of(result.sg_layout, tuple(shape[d] if d in dims else e for d, e in enumerate(result.sg_data)))


def broadcast_source(result: WgMap, dims: Ints) -> WgMap:
    """The source of a broadcast: one element where it is repeated."""
    return WgMap.of(result.sg_layout, tuple(1 if d in dims else e for d, e in enumerate(result.sg_data)))


def mma_sources(result: WgMap, depth: int) -> tuple[WgMap, WgMap]:
    """A and B of a tile_mma that sums over `depth`: a sub-group has all of K, and the rows and columns of C."""
    m, n = result.sg_data
    return WgMap.of(result.sg_layout, (m, depth)), WgMap.of(result.sg_layout, (depth, n))


def stated_map(value: SSAValue) -> WgMap | None:
    """The map that the operation which makes a value states: for its result, or of the tile that it reads."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    tiles = [o.type.traits.wg_map for o in owner.operands if isinstance(o.type, TileType)]
    stated = [owner.properties.get("wg_map_result"), owner.properties.get("wg_map_c"), owner.attributes.get("map")]
    return next((m for m in (*stated, *tiles) if isinstance(m, WgMap)), None)


def verify_source(op: str, source: SSAValue, stated: WgMap | None, derived: WgMap | None) -> None:
    """Check that the maps of a source agree: what the operation states, what it derives, what its producer states.

    Raises:
        VerifyException: they do not.
    """
    if stated is not None and derived is not None and stated != derived:
        raise VerifyException(f"{op}: expected wg_map_source {_text(derived)} for that result, got {_text(stated)}")
    wanted, produced = stated or derived, stated_map(source)
    if wanted is not None and produced is not None and wanted != produced:
        raise VerifyException(
            f"{op}: expected a source with {_text(wanted)}, got one with {_text(produced)}: convert_layout changes it"
        )


def verify_same_subgroups(op: str, result: WgMap, source: WgMap | None) -> None:
    """Check that two maps are for one number of sub-groups.

    Raises:
        VerifyException: they are not.
    """
    if source is not None and prod(source.sg_layout) != prod(result.sg_layout):
        raise VerifyException(
            f"{op}: expected as many sub-groups in both maps, "
            f"got {prod(source.sg_layout)} in wg_map_source and {prod(result.sg_layout)} in wg_map_result"
        )


def _text(wg_map: WgMap) -> str:
    return f"sg_layout {format_ints(wg_map.sg_layout)}, sg_data {format_ints(wg_map.sg_data)}"
