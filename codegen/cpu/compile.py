"""Compilation of a GEMM for an x86 CPU: an ordered list of named stages, from the nest to object code."""

import hashlib

from codegen.artifact.kernel_artifact import CpuArtifact
from codegen.artifact.stages import Stages
from codegen.artifact.toolchain import toolchain_versions
from codegen.config.cpu import CpuConfig, Packing
from codegen.cpu.backend import NAME_DIGITS
from codegen.cpu.deep_tiled_mlir import (
    deep_tiled_mlir,
    has_document_form,
)
from codegen.cpu.emit.memory import Layout
from codegen.cpu.emit.object_code import (
    emit_object,
    optimise,
)
from codegen.cpu.header import header_text
from codegen.cpu.isa import features, needed_flags
from codegen.cpu.nest.entries import (
    PACKED,
    kernel_module,
    pack_b_name,
    parameters_of,
)
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rules import check_cpu
from codegen.problem.gemm import GemmProblem
from codegen.serialization import content_hash
from hal import Argument, DeviceSpec, LaunchSpec, LaunchStep


def cpu_compile_key(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> str:
    """Return the hash of everything the compiled code depends on."""
    plan = Plan(problem, config, spec.isa or ())
    return content_hash([toolchain_versions(), problem, config, features(plan.isa, plan.used)])


def compile_cpu_gemm(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuArtifact:
    """Compile the kernel of a GEMM. Pure; the compiling machine need not be the target.

    Raises:
        Refused: a legality rule refuses.
        CompileFailed: a stage failed.
    """
    check_cpu(problem, config, spec)
    plan = Plan(problem, config, spec.isa or ())
    wanted, needs = features(plan.isa, plan.used), needed_flags(plan.isa, plan.used)
    key = cpu_compile_key(problem, config, spec)
    name = f"xetune_gemm_{key[:NAME_DIGITS]}"
    stages = Stages()
    if has_document_form(problem) is None:
        stages.add("deep-tiled", "deep-tiled.mlir", lambda: deep_tiled_mlir(problem, config))
    nest = stages.add("nest", "nest.ll", lambda: kernel_module(plan, name)).decode()
    optimised = stages.run("llvm", lambda: optimise(nest, wanted))
    stages.add("llvm", "llvm.ll", lambda: str(optimised))
    binary = stages.add("object", "kernel.o", lambda: emit_object(optimised, wanted))
    stages.add("header", "kernel.h", lambda: header_text(plan, name, needs))
    return CpuArtifact(
        key=key,
        content_hash=hashlib.sha256(binary).hexdigest(),
        target=spec.id,
        stages=stages.outputs(),
        toolchain=dict(toolchain_versions()),
        problem=problem,
        config=config,
        launch=cpu_launch(plan, name, binary, needs),
    )


def cpu_launch(plan: Plan, name: str, binary: bytes, needs: tuple[str, ...]) -> LaunchSpec:
    """Return the launch of a kernel: packing of B once, where it is packed beforehand, then the multiply."""
    arguments, problem = _arguments(plan), plan.problem
    places = {argument.name: number for number, argument in enumerate(arguments)}
    grid = (plan.config.thread_count, 1, 1)
    steps = [LaunchStep(name, tuple(places[p] for p in parameters_of(plan)), grid, (1, 1, 1))]
    if plan.packs_b is Packing.BEFOREHAND:
        packs = (*(places[name] for name in PACKED if name in places), places["packed_B"])
        steps.insert(0, LaunchStep(pack_b_name(name), packs, grid, (1, 1, 1), once=True))
    return LaunchSpec(binary, arguments, tuple(steps), 1, "", isa=needs, alignment=problem.alignment)


def _arguments(plan: Plan) -> tuple[Argument, ...]:
    """Return the operands, then the scratch buffers."""
    batch = plan.problem.batch
    operands = [Argument(o.name, o.role, o.dtype.value, o.nbytes(batch)) for o in plan.problem.operands]
    scratch = {"workspace": Layout(plan).workspace.nbytes}
    if plan.packs_b is Packing.BEFOREHAND:
        scratch["packed_B"] = plan.packed_b_bytes
    return (*operands, *(Argument(name, "scratch", "u8", nbytes) for name, nbytes in scratch.items() if nbytes))
