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
from codegen.xe.dialects.gpu.reduce import (
    ReduceKindAttr,
    SubgroupReduceOp,
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
    "ReduceKindAttr",
    "ReturnOp",
    "ShuffleMode",
    "ShuffleModeAttr",
    "ShuffleOp",
    "SubgroupIdOp",
    "SubgroupReduceOp",
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
    SubgroupReduceOp,
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

Gpu = Dialect("gpu", _OPERATIONS, [DimensionAttr, ReduceKindAttr, ShuffleModeAttr, AddressSpaceAttr, AsyncTokenType])
