"""The XeGPU dialect of the RFC and of MLIR's documentation, at work-group, sub-group and work-item level."""

from xdsl.ir import Dialect

from codegen.dialects.cache_hint import XeGPUCacheHint
from codegen.dialects.spellings import spelling
from codegen.dialects.xegpu.barrier import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from codegen.dialects.xegpu.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from codegen.dialects.xegpu.compile_hint import CompileHintOp
from codegen.dialects.xegpu.descriptor import CreateNdTdescOp, UpdateNdOffsetOp
from codegen.dialects.xegpu.dpas import ConvertLayoutOp, DpasOp
from codegen.dialects.xegpu.gather import LoadOp, PrefetchOp, StoreOp
from codegen.dialects.xegpu.layout import DistributeLayout, Distribution, LayoutAttr, RangeAttr, SgMapAttr, SliceAttr
from codegen.dialects.xegpu.matrix import CreateMemDescOp, LoadMatrixOp, MemDescSubviewOp, StoreMatrixOp
from codegen.dialects.xegpu.memory import (
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
from codegen.dialects.xegpu.scatter import AtomicRmwOp, CreateTdescOp, UpdateOffsetOp
from codegen.dialects.xegpu.types import MemDescType, NbarrierType, TensorDescType

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
