"""The XeGPU dialect of the RFC and of MLIR's documentation, at work-group, sub-group and work-item level."""

from xdsl.ir import Dialect

from codegen.xe.dialects.cache_hint import XeGPUCacheHint
from codegen.xe.dialects.spellings import spelling
from codegen.xe.dialects.xegpu.barrier import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from codegen.xe.dialects.xegpu.block import (
    LoadNdOp,
    PrefetchNdOp,
    StoreNdOp,
)
from codegen.xe.dialects.xegpu.compile_hint import CompileHintOp
from codegen.xe.dialects.xegpu.descriptor import (
    CreateNdTdescOp,
    UpdateNdOffsetOp,
)
from codegen.xe.dialects.xegpu.dpas import (
    ConvertLayoutOp,
    DpasOp,
)
from codegen.xe.dialects.xegpu.gather import (
    LoadOp,
    PrefetchOp,
    StoreOp,
)
from codegen.xe.dialects.xegpu.layout import (
    DistributeLayout,
    Distribution,
    LayoutAttr,
    RangeAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.matrix import (
    CreateMemDescOp,
    LoadMatrixOp,
    MemDescSubviewOp,
    StoreMatrixOp,
)
from codegen.xe.dialects.xegpu.memory import (
    BlockTdesc,
    BlockTdescAttr,
    FenceScope,
    FenceScopeAttr,
    MemLayout,
    MemLayoutAttr,
    MemorySpace,
    MemorySpaceAttr,
    ScatteredTdescAttr,
    ScatterTdesc,
    ScatterTdescAttr,
    TdescAttr,
)
from codegen.xe.dialects.xegpu.scatter import (
    AtomicRmwOp,
    CreateTdescOp,
    UpdateOffsetOp,
)
from codegen.xe.dialects.xegpu.types import (
    MemDescType,
    NbarrierType,
    TensorDescType,
)

__all__ = [
    "AllocNbarrierOp",
    "AtomicRmwOp",
    "BlockTdesc",
    "BlockTdescAttr",
    "ConvertLayoutOp",
    "CreateMemDescOp",
    "CreateNdTdescOp",
    "CreateTdescOp",
    "DistributeLayout",
    "Distribution",
    "DpasOp",
    "FenceOp",
    "FenceScope",
    "FenceScopeAttr",
    "InitNbarrierOp",
    "LayoutAttr",
    "LoadMatrixOp",
    "LoadNdOp",
    "LoadOp",
    "MemDescSubviewOp",
    "MemDescType",
    "MemLayout",
    "MemLayoutAttr",
    "MemorySpace",
    "MemorySpaceAttr",
    "NbarrierArriveOp",
    "NbarrierType",
    "NbarrierWaitOp",
    "PrefetchNdOp",
    "PrefetchOp",
    "RangeAttr",
    "ScatterTdesc",
    "ScatterTdescAttr",
    "SgMapAttr",
    "SliceAttr",
    "StoreMatrixOp",
    "StoreNdOp",
    "StoreOp",
    "TensorDescType",
    "UpdateNdOffsetOp",
    "UpdateOffsetOp",
    "XeGPU",
]

XeGPU = Dialect(
    "xegpu",
    [
        AllocNbarrierOp,
        AtomicRmwOp,
        CompileHintOp,
        ConvertLayoutOp,
        CreateMemDescOp,
        CreateNdTdescOp,
        CreateTdescOp,
        DpasOp,
        FenceOp,
        InitNbarrierOp,
        LoadMatrixOp,
        LoadNdOp,
        LoadOp,
        MemDescSubviewOp,
        NbarrierArriveOp,
        NbarrierWaitOp,
        PrefetchNdOp,
        PrefetchOp,
        StoreMatrixOp,
        StoreNdOp,
        StoreOp,
        UpdateNdOffsetOp,
        UpdateOffsetOp,
        spelling("xegpu.update_offsets", UpdateOffsetOp),
    ],
    [
        BlockTdescAttr,
        FenceScopeAttr,
        LayoutAttr,
        MemDescType,
        MemLayoutAttr,
        MemorySpaceAttr,
        NbarrierType,
        RangeAttr,
        ScatterTdescAttr,
        ScatteredTdescAttr,
        SgMapAttr,
        SliceAttr,
        TdescAttr,
        TensorDescType,
        XeGPUCacheHint,
    ],
)
