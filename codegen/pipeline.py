"""Compilation of a GEMM: an ordered list of named stages, from XeTile to SPIR-V."""

import hashlib

from codegen.artifact import Distribution, Distributor, GemmArtifact
from codegen.build.gemm import KERNEL_NAME, build_gemm, grid
from codegen.canonical import content_hash
from codegen.config import KernelConfig
from codegen.dialects import text
from codegen.emulate import emulate
from codegen.errors import CompileFailed
from codegen.llvm import optimise
from codegen.mlir import XeGpuModule
from codegen.problem import GemmProblem
from codegen.rules import check
from codegen.signature import Field, KernelArgument, KernelSignature, Parameter
from codegen.spirv import emit_spirv
from codegen.stages import Stages
from codegen.target import LARGE_GRF, SUBGROUP_SIZE, Target, target_of
from codegen.toolchain import toolchain_versions
from codegen.transforms.lower_xetile import lower_gemm
from hal import Argument, DeviceSpec, LaunchSpec

OPERANDS = ("A", "B", "C")
GEMM_DISTRIBUTION = Distribution(Distributor.MLIR)
LARGE_GRF_OPENCL = "-cl-intel-256-GRF-per-thread"
LARGE_GRF_LEVEL_ZERO = "-ze-opt-large-register-file"


def compile_key(problem: GemmProblem, config: KernelConfig, target: Target) -> str:
    """Hash of everything the compiled code depends on."""
    return content_hash([toolchain_versions(), problem, config, target])


def compile_gemm(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> GemmArtifact:
    """Compile one kernel. Pure, but LLVM and MLIR may end the process: see `pool`.

    Raises:
        Refused: a legality rule refuses.
        CompileFailed: a stage failed.
    """
    check(problem, config, spec)
    target = target_of(spec)
    stages = Stages()

    signature = gemm_signature(problem, config)
    module = build_gemm(problem, config, spec)
    stages.add("xetile", "xetile.mlir", lambda: text(module))
    xegpu = stages.run("xegpu", lambda: XeGpuModule(lower_gemm(module, problem, config, spec)))
    stages.add("xegpu", "xegpu.mlir", lambda: str(xegpu))
    llvm = stages.add("llvm", "llvm.ll", lambda: _optimised(xegpu.lower(target.chip), signature))
    spirv = stages.add("spirv", "kernel.spv", lambda: emit_spirv(llvm.decode()))
    binary = spirv
    if target.emulated:
        emulated = stages.add("emulated", "emulated.ll", lambda: emulate(llvm.decode()))
        binary = stages.add("emulated-spirv", "emulated.spv", lambda: emit_spirv(emulated.decode()))
    return GemmArtifact(
        key=compile_key(problem, config, target),
        content_hash=hashlib.sha256(spirv).hexdigest(),
        problem=problem,
        config=config,
        target=spec.emulates or spec.id,
        stages=stages.outputs(),
        launch=launch_spec(problem, config, target, binary),
        toolchain=dict(toolchain_versions()),
        kernels=(signature,),
        distribution=GEMM_DISTRIBUTION,
    )


def _optimised(bitcode: bytes, signature: KernelSignature) -> str:
    optimised = optimise(bitcode, {signature.name: signature.arguments})
    if optimised.parameters[signature.name] != signature.parameters:
        raise CompileFailed("llvm", f"expected a pointer for each matrix, got {optimised.parameters[signature.name]}")
    return optimised.text


def gemm_signature(problem: GemmProblem, config: KernelConfig) -> KernelSignature:
    """The GEMM kernel's: a pointer for each of A, B and C, whose rows are as long as their pitch."""
    p = problem
    matrices = ((p.dtype_a, p.rows_a, p.pitch_a), (p.dtype_b, p.rows_b, p.pitch_b), (p.dtype_c, p.m, p.pitch_c))
    return KernelSignature(
        KERNEL_NAME,
        tuple(
            KernelArgument(name, dtype.value, (rows, pitch), (pitch, 1))
            for name, (dtype, rows, pitch) in zip(OPERANDS, matrices, strict=True)
        ),
        tuple(Parameter(index, Field.POINTER) for index in range(len(OPERANDS))),
        (config.subgroups * SUBGROUP_SIZE, 1, 1),
    )


def launch_spec(problem: GemmProblem, config: KernelConfig, target: Target, binary: bytes) -> LaunchSpec:
    """How a kernel of this configuration is launched; sizes in work-items."""
    local = config.subgroups * SUBGROUP_SIZE
    x, y, z = grid(problem, config)
    p = problem
    large = config.strategy.grf_mode == LARGE_GRF and not target.emulated
    return LaunchSpec(
        binary=binary,
        kernel=KERNEL_NAME,
        arguments=(
            Argument("A", "input", p.dtype_a.value, p.rows_a * p.pitch_a * p.dtype_a.nbytes),
            Argument("B", "input", p.dtype_b.value, p.rows_b * p.pitch_b * p.dtype_b.nbytes),
            Argument("C", "output", p.dtype_c.value, p.m * p.pitch_c * p.dtype_c.nbytes),
        ),
        global_size=(x * local, y, z),
        local_size=(local, 1, 1),
        subgroup_size=SUBGROUP_SIZE,
        build_options=LARGE_GRF_OPENCL if large else "",
    )
