"""Dialects and passes of this package by name, for xDSL's tools and `xetune opt`."""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

PASSES = {
    "bf16-to-bits": "codegen.xe.passes.bf16_to_bits:Bf16ToBitsPass",
    "distribute-to-subgroups": "codegen.xe.passes.distribute:DistributeToSubgroupsPass",
    "expand-subgroup-threads": "codegen.xe.passes.expand_subgroup_threads:ExpandSubgroupThreadsPass",
    "fold-tile-offsets": "codegen.xe.passes.fold_tile_offsets:FoldTileOffsetsPass",
    "infer-maps": "codegen.xe.passes.infer_maps:InferMapsPass",
    "insert-layout-conversions": "codegen.xe.passes.distribute:InsertLayoutConversionsPass",
    "lower-to-lanes": "codegen.xe.passes.lanes:LowerToLanesPass",
    "lower-xetile": "codegen.xe.passes.lower_xetile:LowerXeTilePass",
    "rewrite-forms": "codegen.xe.passes.forms:RewriteFormsPass",
    "tile-linalg": "codegen.xe.passes.tile_linalg:TileLinalgPass",
    "tile-mma-to-contract": "codegen.xe.passes.tile_mma_to_contract:TileMmaToContractPass",
    "unblock-tiles": "codegen.xe.passes.unblock_tiles:UnblockTilesPass",
    "vector-to-xetile": "codegen.xe.passes.vector_to_xetile:VectorToXeTilePass",
}
"""Passes by name, as module:class; imported on demand. Register new passes here."""


def _xetile() -> Dialect:
    from codegen.xe.dialects.xetile import XeTile

    return XeTile


def _xegpu() -> Dialect:
    from codegen.xe.dialects.xegpu import XeGPU

    return XeGPU


def pass_factory(place: str) -> Callable[[], type[ModulePass]]:
    """Return a function that imports the pass at module:class."""

    def load() -> type[ModulePass]:
        module, name = place.split(":")
        return cast("type[ModulePass]", getattr(import_module(module), name))

    return load


UNIVERSE = Universe(
    # The gpu dialect of `xdsl-opt` is xDSL's own.
    all_dialects={"xetile": _xetile, "xegpu": _xegpu},
    all_passes={name: pass_factory(place) for name, place in PASSES.items()},
)
