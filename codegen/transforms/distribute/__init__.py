"""Our own distribution of work-group-level XeGPU to sub-groups."""

from codegen.transforms.distribute.analysis import layouts_of
from codegen.transforms.distribute.distribute_to_subgroups import DistributeToSubgroupsPass, distribute_to_subgroups
from codegen.transforms.distribute.insert_layout_conversions import InsertLayoutConversionsPass
from codegen.transforms.distribute.slm_buffers import slm_bytes

__all__ = [
    "DistributeToSubgroupsPass",
    "InsertLayoutConversionsPass",
    "distribute_to_subgroups",
    "layouts_of",
    "slm_bytes",
]
