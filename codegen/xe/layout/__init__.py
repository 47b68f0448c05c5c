"""Linear layouts of DPAS operands and 2-D block messages, and the planning of block loads."""

from codegen.xe.layout.block_loads import (
    BlockLoadLayout,
    block_load_layout,
)
from codegen.xe.layout.cover import PlacedMessage
from codegen.xe.layout.dpas import (
    DpasLayout,
    Operand,
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

__all__ = [
    "MESSAGES",
    "BlockLimits",
    "BlockLoadLayout",
    "BlockLoadPlan",
    "BlockMessage",
    "Coordinate",
    "DpasLayout",
    "LayoutRefused",
    "LinearLayout",
    "Operand",
    "PlacedMessage",
    "Shuffle",
    "Transfer",
    "block_limits",
    "block_load_layout",
    "block_load_listing",
    "hardware_view",
    "plan_any_block_loads",
    "plan_block_loads",
    "plan_block_prefetches",
    "plan_block_stores",
    "work_item_table",
]
