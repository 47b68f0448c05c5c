"""The backend of x86 CPUs: loop nests to object code."""

from typing import Any

from codegen.artifact.kernel_artifact import CpuArtifact
from codegen.artifact.workgroup_tiles import WorkgroupTiles
from codegen.config.cpu import CpuConfig
from codegen.elf import defined_functions
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json, content_hash
from hal import DeviceSpec, runs_own_code

NAME_DIGITS = 12
"""Digits of the compile key in the name of a kernel."""


class CpuBackend:
    """A row of `codegen.backend.BACKENDS`; see `codegen.backend.Backend` for the functions."""

    name = "cpu"
    device = "a CPU"
    config = CpuConfig
    binary = "kernel.o"
    files = (binary, "kernel.h")
    names_code = True
    loop_orders = "pmpnpk or pnpmpk, then om, on and ok in any order, then iminik or inimik, all in one word"
    compiles_modules = False

    def functions_of(self, binary: bytes) -> frozenset[str]:
        return defined_functions(binary)

    def targets(self, spec: DeviceSpec) -> bool:
        return runs_own_code(spec)

    def check_problem(self, problem: GemmProblem, spec: DeviceSpec) -> None:
        from codegen.cpu.rules import check_cpu_problem

        check_cpu_problem(problem, spec)

    def check(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> None:
        from codegen.cpu.rules import check_cpu

        check_cpu(problem, config, spec)

    def compile(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuArtifact:
        from codegen.cpu.compile import compile_cpu_gemm

        return compile_cpu_gemm(problem, config, spec)

    def compile_key(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> str:
        from codegen.cpu.compile import cpu_compile_key

        return cpu_compile_key(problem, config, spec)

    code_key = compile_key

    def code_hash(self, artifact: CpuArtifact) -> str:
        # The object names the kernel by its compile key, which changes with every version: the name is left out.
        code = artifact.stage("llvm").data.decode().replace(artifact.key[:NAME_DIGITS], "")
        return content_hash([code, artifact.toolchain.get("llvmlite")])

    def manifest(self, artifact: CpuArtifact) -> dict[str, Json]:
        from codegen.cpu.manifest import cpu_manifest

        return cpu_manifest(artifact)

    def artifact_to_json(self, artifact: CpuArtifact) -> dict[str, Json]:
        from codegen.cpu.artifact_json import artifact_to_json

        return artifact_to_json(artifact)

    def artifact_from_json(
        self, stored: Any, key: str, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec
    ) -> CpuArtifact:
        from codegen.cpu.artifact_json import artifact_from_json

        return artifact_from_json(stored, key, problem, config, spec)

    def workgroup_tiles(self, problem: GemmProblem, config: CpuConfig) -> WorkgroupTiles:
        block, experts = config.matmul.block, None
        rows = -(-problem.m // block.m)
        if problem.experts is not None:
            experts = tuple(-(-count // block.m) for count in problem.rows_of_experts)
            rows = sum(experts)
        tiles = rows, -(-problem.n // block.n)
        return WorkgroupTiles(problem.batch, tiles, tiles, along_n=True, raster_group=1, experts=experts)
