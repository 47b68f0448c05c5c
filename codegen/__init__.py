"""From a GEMM problem and a configuration, or from the text of a module, to compiled kernels."""

from importlib import import_module
from typing import TYPE_CHECKING

from codegen.artifact.kernel_artifact import (
    AnyArtifact,
    CpuArtifact,
    Distribution,
    Distributor,
    GemmArtifact,
    KernelArtifact,
    StageOutput,
)
from codegen.config.kernel_config import (
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
from codegen.cpu.config import AnyConfig, CpuConfig, CpuStrategy, Isa, Packing
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
from codegen.problem.gemm import (
    DType,
    GemmProblem,
)

if TYPE_CHECKING:
    from codegen.pipeline import compile_gemm
    from codegen.simulate.run_module import simulate
    from codegen.xe.modules import compile_module

__all__ = [
    "AnyArtifact",
    "AnyConfig",
    "Axis",
    "CodegenError",
    "CompileCrashed",
    "CompileFailed",
    "CompileTimedOut",
    "CpuArtifact",
    "CpuConfig",
    "CpuStrategy",
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
    "Isa",
    "KernelArtifact",
    "KernelConfig",
    "LoopOrder",
    "MatmulConfig",
    "Packing",
    "Prefetch",
    "PrefetchLevels",
    "Refused",
    "SlmOperands",
    "SplitK",
    "StageOutput",
    "XeStrategy",
    "compile_gemm",
    "compile_module",
    "simulate",
]

# What needs the compiler's libraries is imported when it is first asked for.
_LATE = {
    "compile_gemm": "codegen.pipeline",
    "compile_module": "codegen.xe.modules",
    "simulate": "codegen.simulate.run_module",
}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
