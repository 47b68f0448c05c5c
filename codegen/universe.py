"""What xDSL's tools and `xetune opt` know of this package: our dialects, and our passes by name."""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

PASSES = {
    "distribute-to-subgroups": "codegen.transforms.distribute:DistributeToSubgroupsPass",
    "expand-subgroup-threads": "codegen.transforms.expand_subgroup_threads:ExpandSubgroupThreadsPass",
    "fold-tile-offsets": "codegen.transforms.fold_tile_offsets:FoldTileOffsetsPass",
    "insert-layout-conversions": "codegen.transforms.distribute:InsertLayoutConversionsPass",
    "legalise-xegpu": "codegen.transforms.legalise_xegpu:LegaliseXeGPUPass",
    "lower-to-lanes": "codegen.transforms.lanes:LowerToLanesPass",
    "lower-xetile": "codegen.transforms.lower_xetile:LowerXeTilePass",
    "state-maps": "codegen.transforms.state_maps:StateMapsPass",
    "tile-linalg": "codegen.transforms.tile_linalg:TileLinalgPass",
    "tile-mma-to-contract": "codegen.transforms.tile_mma_to_contract:TileMmaToContractPass",
    "unblock-tiles": "codegen.transforms.unblock_tiles:UnblockTilesPass",
    "vector-to-xetile": "codegen.transforms.vector_to_xetile:VectorToXeTilePass",
}
"""Each pass by name, as module:class; it is imported when it is asked for. A new pass is a line here."""


def _xetile() -> Dialect:
    from codegen.dialects.xetile import XeTile

    return XeTile


def _xegpu() -> Dialect:
    from codegen.dialects.xegpu import XeGPU

    return XeGPU


def pass_factory(place: str) -> Callable[[], type[ModulePass]]:
    """What imports the pass at module:class when it is called."""

    def load() -> type[ModulePass]:
        module, name = place.split(":")
        return cast("type[ModulePass]", getattr(import_module(module), name))

    return load


UNIVERSE = Universe(
    # The gpu dialect of `xdsl-opt` is xDSL's own.
    all_dialects={"xetile": _xetile, "xegpu": _xegpu},
    all_passes={name: pass_factory(place) for name, place in PASSES.items()},
)
