"""The XeTile dialect: kernels on tiles of matrices.

Source: XeTile RFC, with the concrete syntax of Intel's former C++ implementation.
"""

from xdsl.ir import Dialect

from codegen.xe.dialects.cache_hint import TileCacheHint
from codegen.xe.dialects.kinds import (
    AtomicKind,
    AtomicKindAttr,
    ReductionKind,
    ReductionKindAttr,
)
from codegen.xe.dialects.maps import (
    SgMap,
    WgMap,
)
from codegen.xe.dialects.spellings import spelling
from codegen.xe.dialects.xetile.atomic_rmw import AtomicRmwOp
from codegen.xe.dialects.xetile.init_tile import InitTileOp
from codegen.xe.dialects.xetile.layout_ops import (
    ConvertLayoutOp,
    TransposeOp,
)
from codegen.xe.dialects.xetile.packing import (
    TilePackOp,
    TileUnpackOp,
)
from codegen.xe.dialects.xetile.reduction import (
    BroadcastOp,
    ReductionOp,
)
from codegen.xe.dialects.xetile.rfc_maps import (
    BareSgMap,
    BareWgMap,
)
from codegen.xe.dialects.xetile.scattered import (
    LoadOp,
    StoreOp,
)
from codegen.xe.dialects.xetile.tile import TileType
from codegen.xe.dialects.xetile.tile_attr import (
    TileAttr,
    TileTraits,
)
from codegen.xe.dialects.xetile.tile_memory import (
    LoadTileOp,
    PrefetchTileOp,
    StoreTileOp,
)
from codegen.xe.dialects.xetile.tile_mma import TileMmaOp
from codegen.xe.dialects.xetile.update_tile_offset import UpdateTileOffsetOp

__all__ = [
    "AtomicKind",
    "AtomicKindAttr",
    "AtomicRmwOp",
    "BroadcastOp",
    "ConvertLayoutOp",
    "InitTileOp",
    "LoadOp",
    "LoadTileOp",
    "PrefetchTileOp",
    "ReductionKind",
    "ReductionKindAttr",
    "ReductionOp",
    "SgMap",
    "StoreOp",
    "StoreTileOp",
    "TileAttr",
    "TileCacheHint",
    "TileMmaOp",
    "TilePackOp",
    "TileTraits",
    "TileType",
    "TileUnpackOp",
    "TransposeOp",
    "UpdateTileOffsetOp",
    "WgMap",
    "XeTile",
]

_OPERATIONS = [
    InitTileOp,
    LoadTileOp,
    StoreTileOp,
    PrefetchTileOp,
    UpdateTileOffsetOp,
    TileMmaOp,
    TransposeOp,
    ReductionOp,
    BroadcastOp,
    ConvertLayoutOp,
    AtomicRmwOp,
    TilePackOp,
    TileUnpackOp,
    LoadOp,
    StoreOp,
]

_OTHER_NAMES = {
    "tile_transpose": TransposeOp,
    "tile_reduce": ReductionOp,
    "reduce": ReductionOp,
    "tile_broadcast": BroadcastOp,
    "tile_conv_layout": ConvertLayoutOp,
    "conv_layout": ConvertLayoutOp,
    "atomic_rmw_tile": AtomicRmwOp,
    "load_gather": LoadOp,
    "store_scatter": StoreOp,
    "update_nd_offset": UpdateTileOffsetOp,
}
"""Names of the RFC and of older files."""

XeTile = Dialect(
    "xetile",
    [*_OPERATIONS, *(spelling(f"xetile.{name}", op) for name, op in _OTHER_NAMES.items())],
    [TileAttr, TileCacheHint, TileType, SgMap, WgMap, AtomicKindAttr, ReductionKindAttr, BareWgMap, BareSgMap],
)
