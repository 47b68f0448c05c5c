"""What xDSL's tools learn from this package: our dialects and passes. The gpu dialect of `xdsl-opt` is xDSL's own."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _xetile() -> Dialect:
    from codegen.dialects.xetile import XeTile

    return XeTile


def _xegpu() -> Dialect:
    from codegen.dialects.xegpu import XeGPU

    return XeGPU


def _fold_tile_offsets() -> type[ModulePass]:
    from codegen.transforms.fold_tile_offsets import FoldTileOffsetsPass

    return FoldTileOffsetsPass


def _lower_xetile() -> type[ModulePass]:
    from codegen.transforms.lower_xetile import LowerXeTilePass

    return LowerXeTilePass


def _state_maps() -> type[ModulePass]:
    from codegen.transforms.state_maps import StateMapsPass

    return StateMapsPass


def _unblock_tiles() -> type[ModulePass]:
    from codegen.transforms.unblock_tiles import UnblockTilesPass

    return UnblockTilesPass


UNIVERSE = Universe(
    all_dialects={"xetile": _xetile, "xegpu": _xegpu},
    all_passes={
        "state-maps": _state_maps,
        "unblock-tiles": _unblock_tiles,
        "fold-tile-offsets": _fold_tile_offsets,
        "lower-xetile": _lower_xetile,
    },
)
