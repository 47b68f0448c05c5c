"""From a GEMM problem and a configuration to a verified-by-rule, compiled kernel."""

from codegen.artifact import Distribution, Distributor, GemmArtifact, KernelArtifact, StageOutput
from codegen.config import (
    Extent,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    XeStrategy,
)
from codegen.epilogue import Axis, EpilogueKind, EpilogueStep
from codegen.errors import (
    CodegenError,
    CompileCrashed,
    CompileFailed,
    CompileTimedOut,
    InvalidConfig,
    InvalidLaunch,
    InvalidProblem,
    Refused,
)
from codegen.problem import DType, GemmProblem

__all__ = [
    "Axis",
    "CodegenError",
    "CompileCrashed",
    "CompileFailed",
    "CompileTimedOut",
    "DType",
    "Distribution",
    "Distributor",
    "EpilogueKind",
    "EpilogueStep",
    "Extent",
    "GemmArtifact",
    "GemmProblem",
    "InvalidConfig",
    "InvalidLaunch",
    "InvalidProblem",
    "KernelArtifact",
    "KernelConfig",
    "LoopOrder",
    "MatmulConfig",
    "Prefetch",
    "PrefetchLevels",
    "Refused",
    "SlmOperands",
    "SplitK",
    "StageOutput",
    "XeStrategy",
]
