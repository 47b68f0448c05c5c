"""Distribution of work-group-level XeGPU to sub-groups."""

from codegen.xe.passes.distribute.analysis import layouts_of
from codegen.xe.passes.distribute.distribute_to_subgroups import (
    DistributeToSubgroupsPass,
    distribute_to_subgroups,
)
from codegen.xe.passes.distribute.insert_layout_conversions import InsertLayoutConversionsPass
from codegen.xe.passes.distribute.slm_buffers import slm_bytes

__all__ = [
    "DistributeToSubgroupsPass",
    "InsertLayoutConversionsPass",
    "distribute_to_subgroups",
    "layouts_of",
    "slm_bytes",
]
