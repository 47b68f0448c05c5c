"""From a GEMM problem and a configuration, or from the text of a module, to compiled kernels."""

from importlib import import_module
from typing import TYPE_CHECKING

from codegen.artifact.kernel_artifact import (
    AnyArtifact,
    CpuArtifact,
    GemmArtifact,
    KernelArtifact,
    StageOutput,
)
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.config.kernel_config import KernelConfig
from codegen.config.matmul import Extent, LoopOrder, MatmulConfig
from codegen.config.xe import (
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
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
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from codegen.problem.gate import (
    Activation,
    Gate,
)
from codegen.problem.gemm import (
    DType,
    GemmProblem,
)
from codegen.problem.quantization import Quantization

if TYPE_CHECKING:
    from codegen.pipeline import compile_gemm, compile_module
    from codegen.simulate.run_module import simulate_module

__all__ = [
    "Activation",
    "AnyArtifact",
    "Axis",
    "CodegenError",
    "CompileCrashed",
    "CompileFailed",
    "CompileTimedOut",
    "CpuArtifact",
    "CpuConfig",
    "CpuStrategy",
    "DType",
    "EpilogueKind",
    "EpilogueStep",
    "Extent",
    "Gate",
    "GemmArtifact",
    "GemmProblem",
    "InvalidConfig",
    "InvalidLaunch",
    "InvalidProblem",
    "Isa",
    "KernelArtifact",
    "KernelConfig",
    "LoopOrder",
    "MatmulConfig",
    "Packing",
    "Prefetch",
    "PrefetchLevels",
    "Quantization",
    "Refused",
    "SlmOperands",
    "SplitK",
    "StageOutput",
    "WorkspaceOperands",
    "XeConfig",
    "XeStrategy",
    "compile_gemm",
    "compile_module",
    "simulate_module",
]

# What needs the compiler's libraries is imported when it is first asked for.
_LATE = {
    "compile_gemm": "codegen.pipeline",
    "compile_module": "codegen.pipeline",
    "simulate_module": "codegen.simulate.run_module",
}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
