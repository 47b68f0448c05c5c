"""What compilation gives: every stage's output, the launch, and what it was made from."""

from dataclasses import dataclass

from codegen.config import KernelConfig
from codegen.problem import GemmProblem
from hal import LaunchSpec


@dataclass(frozen=True, slots=True)
class StageOutput:
    """One named stage: its file name, its bytes, and how long it took in ms."""

    name: str  # "xetile", "xegpu", "llvm", "spirv"
    file_name: str  # "xetile.mlir", "xegpu.mlir", "llvm.ll", "kernel.spv"
    data: bytes
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class KernelArtifact:
    """A compiled kernel. `key` is the compile key (inputs), `content_hash` the SHA-256 of the SPIR-V."""

    key: str
    content_hash: str
    problem: GemmProblem
    config: KernelConfig
    target: str  # id of the GPU that kernel.spv is for
    stages: tuple[StageOutput, ...]
    launch: LaunchSpec
    toolchain: dict[str, str]

    def stage(self, name: str) -> StageOutput:
        """The output of the stage `name`.

        Raises:
            KeyError: no such stage.
        """
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"no stage {name!r}; there are {[s.name for s in self.stages]}")
