"""The XeGPU dialect of the RFC and of MLIR's documentation, at work-group, sub-group and work-item level."""

from xdsl.ir import Dialect

from codegen.dialects.cache_hint import XeGPUCacheHint
from codegen.dialects.compile_hint import CompileHintOp
from codegen.dialects.spellings import spelling
from codegen.dialects.xegpu_barrier import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from codegen.dialects.xegpu_block import LoadNdOp, PrefetchNdOp, StoreNdOp
from codegen.dialects.xegpu_descriptor import CreateNdTdescOp, UpdateNdOffsetOp
from codegen.dialects.xegpu_dpas import ConvertLayoutOp, DpasOp
from codegen.dialects.xegpu_gather import LoadOp, PrefetchOp, StoreOp
from codegen.dialects.xegpu_layout import DistributeLayout, Distribution, LayoutAttr, RangeAttr, SgMapAttr, SliceAttr
from codegen.dialects.xegpu_matrix import CreateMemDescOp, LoadMatrixOp, MemDescSubviewOp, StoreMatrixOp
from codegen.dialects.xegpu_memory import (
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
from codegen.dialects.xegpu_scatter import AtomicRmwOp, CreateTdescOp, UpdateOffsetOp
from codegen.dialects.xegpu_types import MemDescType, NbarrierType, TensorDescType

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
