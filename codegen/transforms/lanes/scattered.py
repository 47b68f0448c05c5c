from codegen.dialects.xegpu import StoreOp
from codegen.transforms.lanes.layout import LaneLayout
def natural_layout(op: StoreOp) -> LaneLayout | None:
    return None
HANDLERS = {}
