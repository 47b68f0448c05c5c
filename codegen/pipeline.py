"""Compilation of a GEMM: an ordered list of named stages, from XeTile to SPIR-V."""

import hashlib

from xdsl.dialects.builtin import ModuleOp

from codegen.artifact.kernel_artifact import (
    Distributor,
    GemmArtifact,
)
from codegen.artifact.launch import launch_spec
from codegen.artifact.stages import Stages
from codegen.artifact.toolchain import toolchain_versions
from codegen.config.xe import XeConfig
from codegen.emulate import emulate
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.serialization import content_hash
from codegen.target import Target, target_of
from codegen.workers.code_key import code_basis
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import text
from codegen.xe.llvm import (
    OptimisedModule,
    Prefetches,
    optimise,
)
from codegen.xe.modules.kernels import (
    arguments_of,
    kernels_of,
    signature_of,
)
from codegen.xe.modules.ways import lower
from codegen.xe.operand_access import memory_paths
from codegen.xe.passes.lower_xetile import lower_gemm
from codegen.xe.passes.tile_mma_to_contract import tile_mma_to_contract
from codegen.xe.rules import check
from codegen.xe.spirv import emit_spirv
from hal import DeviceSpec

_FEWER = "fewer-instructions"


def compile_key(problem: GemmProblem, config: XeConfig, target: Target) -> str:
    """Hash of everything that a kernel with its launch depends on."""
    return content_hash([toolchain_versions(), problem, config, target])


def code_key(problem: GemmProblem, config: XeConfig, target: Target) -> str:
    """Hash of what the code alone depends on: one for all sizes that a dynamic kernel is launched for."""
    if (basis := code_basis(problem, config, target)) is None:
        return compile_key(problem, config, target)
    return content_hash([toolchain_versions(), basis, target])


def compile_gemm(
    problem: GemmProblem,
    config: XeConfig,
    spec: DeviceSpec,
    *,
    distribution: Distributor = Distributor.XETUNE,
) -> GemmArtifact:
    """Compile the kernels of a GEMM. Pure, but LLVM and MLIR may end the process: see `pool`.

    `distribution` asks for MLIR's way to lanes in place of ours, whose kernels have fewer messages and moves.

    Raises:
        Refused: a legality rule refuses.
        CompileFailed: a stage failed.
    """
    check(problem, config, spec)
    target = target_of(spec)
    stages = Stages()
    module = build_gemm(problem, config, spec)
    stages.add("xetile", "xetile.mlir", lambda: text(module))
    arguments = {kernel.sym_name.data: arguments_of(kernel) for kernel in kernels_of(module)}
    stages.run("xegpu", lambda: _to_xegpu(module, problem, config, target))

    def finish(bitcode: bytes) -> tuple[OptimisedModule, bytes]:
        optimised = stages.run("llvm", lambda: optimise(bitcode, arguments, _prefetches(config)))
        stages.add("llvm", "llvm.ll", lambda: optimised.text)
        return optimised, stages.add("spirv", "kernel.spv", lambda: emit_spirv(optimised.text))

    taken, (optimised, spirv) = lower(module, stages, target, distribution, finish, _FEWER)
    kernels = tuple(signature_of(kernel, arguments, optimised, set()) for kernel in kernels_of(module))
    binary = spirv
    if target.emulated:
        emulated = stages.add("emulated", "emulated.ll", lambda: emulate(optimised.text))
        binary = stages.add("emulated-spirv", "emulated.spv", lambda: emit_spirv(emulated.decode()))
    return GemmArtifact(
        key=compile_key(problem, config, target),
        content_hash=hashlib.sha256(spirv).hexdigest(),
        problem=problem,
        config=config,
        target=spec.emulates or spec.id,
        stages=stages.outputs(),
        launch=launch_spec(problem, config, target, binary, kernels),
        toolchain=dict(toolchain_versions()),
        kernels=kernels,
        distribution=taken,
        memory_paths=memory_paths(problem, target),
    )


def _prefetches(config: XeConfig) -> Prefetches:
    return Prefetches.PAYLOADS if config.strategy.prefetch.payloads else Prefetches.PORTABLE


def _to_xegpu(module: ModuleOp, problem: GemmProblem, config: XeConfig, target: Target) -> None:
    if problem.dtype_a is DType.F32:
        tile_mma_to_contract(module)
    lower_gemm(module, problem, config, target)
