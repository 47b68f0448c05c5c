"""Results of a compilation: every stage's output, the kernels in it, and its inputs."""

from dataclasses import dataclass

from codegen.artifact.signature import KernelSignature
from codegen.config.cpu import CpuConfig
from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.operand_access import MemoryPath
from hal import LaunchSpec


@dataclass(frozen=True, slots=True)
class StageOutput:
    """One named stage: its file name, its bytes, and how long it took in ms."""

    name: str  # "xetile", "xegpu", "llvm", "spirv"
    file_name: str  # "xetile.mlir", "xegpu.mlir", "llvm.ll", "kernel.spv"
    data: bytes
    elapsed_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelArtifact:
    """Compiled kernels. `key` is the hash of the inputs, `content_hash` the SHA-256 of the SPIR-V."""

    key: str
    content_hash: str
    target: str  # id of the GPU that kernel.spv is for
    stages: tuple[StageOutput, ...]
    toolchain: dict[str, str]
    kernels: tuple[KernelSignature, ...]

    def stage(self, name: str) -> StageOutput:
        """Return the output of the stage `name`.

        Raises:
            KeyError: no such stage.
        """
        return _stage(self.stages, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmArtifact(KernelArtifact):
    """The kernels of a GEMM problem in one configuration, with their launch and how operands are accessed, by name."""

    problem: GemmProblem
    config: XeConfig
    launch: LaunchSpec
    memory_paths: dict[str, MemoryPath]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuArtifact:
    """The code of a GEMM problem in one configuration for an x86 CPU, with its launch.

    `key` is the hash of the inputs, `content_hash` the SHA-256 of the object code; `target` is the id of the CPU that
    it was compiled for. It runs on every CPU that has the instructions that the launch's `isa` names.
    """

    key: str
    content_hash: str
    target: str
    stages: tuple[StageOutput, ...]
    toolchain: dict[str, str]
    problem: GemmProblem
    config: CpuConfig
    launch: LaunchSpec

    def stage(self, name: str) -> StageOutput:
        """Return the output of the stage `name`.

        Raises:
            KeyError: no such stage.
        """
        return _stage(self.stages, name)


AnyArtifact = GemmArtifact | CpuArtifact
"""Result of compiling a GEMM, for a GPU or a CPU."""


def _stage(stages: tuple[StageOutput, ...], name: str) -> StageOutput:
    for stage in stages:
        if stage.name == name:
            return stage
    raise KeyError(f"no stage {name!r}; there are {[s.name for s in stages]}")
