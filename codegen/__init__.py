"""From a GEMM problem and a configuration, or from the text of a module, to compiled kernels."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
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
    from codegen.pipeline import compile_gemm, compile_module
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

# Imported when it is first asked for: most programs, and every help text, need a part of it.
_LATE = {
    "Activation": "codegen.problem.gate",
    "AnyArtifact": "codegen.artifact.kernel_artifact",
    "Axis": "codegen.problem.epilogue",
    "CodegenError": "codegen.errors",
    "CompileCrashed": "codegen.errors",
    "CompileFailed": "codegen.errors",
    "CompileTimedOut": "codegen.errors",
    "CpuArtifact": "codegen.artifact.kernel_artifact",
    "CpuConfig": "codegen.config.cpu",
    "CpuStrategy": "codegen.config.cpu",
    "DType": "codegen.problem.gemm",
    "EpilogueKind": "codegen.problem.epilogue",
    "EpilogueStep": "codegen.problem.epilogue",
    "Extent": "codegen.config.matmul",
    "Gate": "codegen.problem.gate",
    "GemmArtifact": "codegen.artifact.kernel_artifact",
    "GemmProblem": "codegen.problem.gemm",
    "InvalidConfig": "codegen.errors",
    "InvalidLaunch": "codegen.errors",
    "InvalidProblem": "codegen.errors",
    "Isa": "codegen.config.cpu",
    "KernelArtifact": "codegen.artifact.kernel_artifact",
    "KernelConfig": "codegen.config.kernel_config",
    "LoopOrder": "codegen.config.matmul",
    "MatmulConfig": "codegen.config.matmul",
    "Packing": "codegen.config.cpu",
    "Prefetch": "codegen.config.xe",
    "PrefetchLevels": "codegen.config.xe",
    "Quantization": "codegen.problem.quantization",
    "Refused": "codegen.errors",
    "SlmOperands": "codegen.config.xe",
    "SplitK": "codegen.config.xe",
    "StageOutput": "codegen.artifact.kernel_artifact",
    "WorkspaceOperands": "codegen.config.xe",
    "XeConfig": "codegen.config.xe",
    "XeStrategy": "codegen.config.xe",
    "compile_gemm": "codegen.pipeline",
    "compile_module": "codegen.pipeline",
    "simulate_module": "codegen.simulate.run_module",
}

__getattr__ = late_exports(globals(), _LATE)
