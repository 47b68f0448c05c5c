"""Linear layouts, the planning of block loads, and the maps that deal tiles out to sub-groups and work-items."""

from codegen.xe.layout.block_loads import (
    BlockLoadLayout,
    block_load_layout,
)
from codegen.xe.layout.cover import PlacedMessage
from codegen.xe.layout.distribution import (
    Fragment,
    bitcast_map,
    distribute_to_work_items,
    transposed_map,
)
from codegen.xe.layout.dpas import (
    DpasLayout,
    Operand,
)
from codegen.xe.layout.errata import (
    ERRATA,
    Erratum,
)
from codegen.xe.layout.limits import (
    BlockLimits,
    block_limits,
)
from codegen.xe.layout.linear import (
    Coordinate,
    LinearLayout,
)
from codegen.xe.layout.listing import (
    block_load_listing,
    corners,
    first_lane,
    hardware_view,
    work_item_table,
)
from codegen.xe.layout.messages import (
    MESSAGES,
    BlockMessage,
    Transfer,
)
from codegen.xe.layout.plan import (
    BlockLoadPlan,
    Shuffle,
    plan_any_block_loads,
    plan_block_loads,
    plan_block_prefetches,
    plan_block_stores,
)
from codegen.xe.layout.refusal import LayoutRefused
from codegen.xe.layout.subgroups import (
    SharedBlock,
    block_owners,
    linear_subgroup_id,
    subgroup_blocks,
)
from codegen.xe.layout.work_items import (
    LEGAL_MAPS,
    Access,
    LegalMap,
    WorkItemMap,
    check_chunk_size,
    check_work_item_map,
)

__all__ = [
    "ERRATA",
    "LEGAL_MAPS",
    "MESSAGES",
    "Access",
    "BlockLimits",
    "BlockLoadLayout",
    "BlockLoadPlan",
    "BlockMessage",
    "Coordinate",
    "DpasLayout",
    "Erratum",
    "Fragment",
    "LayoutRefused",
    "LegalMap",
    "LinearLayout",
    "Operand",
    "PlacedMessage",
    "SharedBlock",
    "Shuffle",
    "Transfer",
    "WorkItemMap",
    "bitcast_map",
    "block_limits",
    "block_load_layout",
    "block_load_listing",
    "block_owners",
    "check_chunk_size",
    "check_work_item_map",
    "corners",
    "distribute_to_work_items",
    "first_lane",
    "hardware_view",
    "linear_subgroup_id",
    "plan_any_block_loads",
    "plan_block_loads",
    "plan_block_prefetches",
    "plan_block_stores",
    "subgroup_blocks",
    "transposed_map",
    "work_item_table",
]
