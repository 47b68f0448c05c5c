"""The backend of Intel GPUs: XeTile to SPIR-V, also for CPU OpenCL devices that simulate a GPU."""

import hashlib
from typing import Any

from codegen.artifact.kernel_artifact import GemmArtifact
from codegen.artifact.workgroup_tiles import WorkgroupTiles
from codegen.config.xe import XE_ORDERS, XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json
from codegen.target import target_of
from hal import DeviceSpec, runs_own_code
from hal.spirv.words import entry_points


class XeBackend:
    """A row of `codegen.backend.BACKENDS`; see `codegen.backend.Backend` for the functions."""

    name = "xe"
    device = "a GPU"
    config = XeConfig
    binary = "kernel.spv"
    files = (binary,)
    names_code = False
    loop_orders = f"one of {', '.join(XE_ORDERS)}"
    compiles_modules = True

    def functions_of(self, binary: bytes) -> frozenset[str]:
        return entry_points(binary)

    def targets(self, spec: DeviceSpec) -> bool:
        return not runs_own_code(spec)

    def check_problem(self, problem: GemmProblem, spec: DeviceSpec) -> None:
        from codegen.xe.rules import check_problem

        check_problem(problem, spec)

    def check(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> None:
        from codegen.xe.rules import check

        check(problem, config, spec)

    def compile(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> GemmArtifact:
        from codegen.pipeline import compile_gemm

        return compile_gemm(problem, config, spec)

    def compile_key(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> str:
        from codegen.pipeline import compile_key

        return compile_key(problem, config, target_of(spec))

    def code_key(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> str:
        from codegen.pipeline import code_key

        return code_key(problem, config, target_of(spec))

    def code_hash(self, artifact: GemmArtifact) -> str:
        return hashlib.sha256(artifact.launch.binary).hexdigest()

    def manifest(self, artifact: GemmArtifact) -> dict[str, Json]:
        from codegen.artifact.manifest import manifest

        return manifest(artifact)

    def artifact_to_json(self, artifact: GemmArtifact) -> dict[str, Json]:
        from codegen.xe.artifact_json import artifact_to_json

        return artifact_to_json(artifact)

    def artifact_from_json(
        self, stored: Any, key: str, problem: GemmProblem, config: XeConfig, spec: DeviceSpec
    ) -> GemmArtifact:
        from codegen.xe.artifact_json import artifact_from_json

        return artifact_from_json(stored, key, problem, config, spec)

    def workgroup_tiles(self, problem: GemmProblem, config: XeConfig) -> WorkgroupTiles:
        from codegen.xe.workgroup_tiles import workgroup_tiles

        return workgroup_tiles(problem, config)
