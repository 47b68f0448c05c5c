"""The part of MLIR's gpu dialect that kernels and the hosts of XeTile files use, in its pretty syntax.

xDSL's own gpu dialect lacks that syntax.
"""

from xdsl.ir import Dialect, Operation

from codegen.xe.dialects.gpu.ids import (
    BarrierOp,
    BlockDimOp,
    BlockIdOp,
    Dimension,
    DimensionAttr,
    GlobalIdOp,
    GridDimOp,
    LaneIdOp,
    NumSubgroupsOp,
    ShuffleMode,
    ShuffleModeAttr,
    ShuffleOp,
    SubgroupIdOp,
    SubgroupSizeOp,
    ThreadIdOp,
)
from codegen.xe.dialects.gpu.kernel import (
    AddressSpace,
    AddressSpaceAttr,
    FuncOp,
    ModuleOp,
    ReturnOp,
)
from codegen.xe.dialects.gpu.launch import (
    LaunchFuncOp,
    LaunchOp,
    TerminatorOp,
)
from codegen.xe.dialects.gpu.memory import (
    AllocOp,
    AsyncTokenType,
    DeallocOp,
    MemcpyOp,
    MemsetOp,
    WaitOp,
)

__all__ = [
    "AddressSpace",
    "AddressSpaceAttr",
    "AllocOp",
    "AsyncTokenType",
    "BarrierOp",
    "BlockDimOp",
    "BlockIdOp",
    "DeallocOp",
    "Dimension",
    "DimensionAttr",
    "FuncOp",
    "GlobalIdOp",
    "Gpu",
    "GridDimOp",
    "LaneIdOp",
    "LaunchFuncOp",
    "LaunchOp",
    "MemcpyOp",
    "MemsetOp",
    "ModuleOp",
    "NumSubgroupsOp",
    "ReturnOp",
    "ShuffleMode",
    "ShuffleModeAttr",
    "ShuffleOp",
    "SubgroupIdOp",
    "SubgroupSizeOp",
    "TerminatorOp",
    "ThreadIdOp",
    "WaitOp",
]

_OPERATIONS: list[type[Operation]] = [
    BlockIdOp,
    ThreadIdOp,
    GlobalIdOp,
    BlockDimOp,
    GridDimOp,
    SubgroupIdOp,
    NumSubgroupsOp,
    SubgroupSizeOp,
    LaneIdOp,
    BarrierOp,
    ShuffleOp,
    ReturnOp,
    ModuleOp,
    FuncOp,
    LaunchFuncOp,
    LaunchOp,
    TerminatorOp,
    AllocOp,
    DeallocOp,
    MemcpyOp,
    MemsetOp,
    WaitOp,
]

Gpu = Dialect("gpu", _OPERATIONS, [DimensionAttr, ShuffleModeAttr, AddressSpaceAttr, AsyncTokenType])
