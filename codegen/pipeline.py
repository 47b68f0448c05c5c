"""Compiler pipeline: the stages of kernels from XeTile or XeGPU to SPIR-V.

A GEMM begins as XeTile that `build/` writes, a module as its parsed text. The table `LOWERING` is shared by both, and
`EMULATION` follows it on a CPU that emulates a GPU. Every stage writes a file.
"""

import hashlib
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp, f32

from codegen.artifact.kernel_artifact import (
    GemmArtifact,
    KernelArtifact,
    StageOutput,
)
from codegen.artifact.launch import launch_spec
from codegen.artifact.signature import (
    KernelArgument,
    KernelSignature,
)
from codegen.artifact.stages import LaterOutput, Output, Stages
from codegen.artifact.toolchain import toolchain_versions
from codegen.config.xe import XeConfig
from codegen.emulate import emulate
from codegen.errors import CompileFailed
from codegen.problem.gemm import GemmProblem
from codegen.serialization import content_hash
from codegen.target import Target, target_of
from codegen.workers.code_key import code_basis
from codegen.xe.build.gemm import KERNEL_NAME, build_gemm
from codegen.xe.dialects import text
from codegen.xe.dialects.creation import copy
from codegen.xe.dialects.generic_text import generic_text, operation_at
from codegen.xe.dialects.gpu.host import (
    Extents,
    device_part,
)
from codegen.xe.dialects.kernel_attributes import ARGUMENTS_APART, EXTENTS
from codegen.xe.dialects.verification import verify
from codegen.xe.layout import block_limits
from codegen.xe.llvm import (
    OptimisedModule,
    Prefetches,
    optimise,
)
from codegen.xe.locations import OperationFailed
from codegen.xe.mlir import MlirModule
from codegen.xe.modules.blocks import set_blocks
from codegen.xe.modules.kernels import (
    arguments_of,
    check_slm,
    check_workgroup_size,
    kernels_of,
    signature_of,
)
from codegen.xe.modules.source import (
    lower_source,
    parse_source,
)
from codegen.xe.modules.source_text import SourceText
from codegen.xe.operand_access import memory_paths
from codegen.xe.passes.bf16_to_bits import bf16_to_bits
from codegen.xe.passes.distribute import distribute_to_subgroups
from codegen.xe.passes.expand_subgroup_threads import counts_subgroups
from codegen.xe.passes.lanes import lower_to_lanes, named_barriers_of
from codegen.xe.passes.lower_xetile import lower_gemm
from codegen.xe.passes.tile_mma_to_contract import tile_mma_to_contract
from codegen.xe.rules import check
from codegen.xe.spirv import emit_spirv
from codegen.xe.subgroup import subgroups_of
from hal import DeviceSpec

T = TypeVar("T")

_NOT_MLIRS = (  # apart, since a search begins with the letters that a pattern begins with
    re.compile(r"xegpu\.create_tdesc"),
    re.compile(r"mem_desc<[\dx]+tf32"),
    re.compile(r"xegpu\.dpas .*: vector<[\dx]+(?:ui8>, vector<[\dx]+i8|i8>, vector<[\dx]+ui8)>"),
)
"""Scattered descriptors, tf32 in shared local memory (19 bits there), and products of bytes of both signs."""

_OF_LLVM = ("llvm", "spirv")
_KERNEL = re.compile(r"(?:\(in function: |kernel )([\w.$-]+)")
"""A kernel in an error of LLVM."""


@dataclass(slots=True)
class Compilation:
    """Kernels between two stages. Passes rewrite `module` in place; later stages set the other fields."""

    target: Target
    prefetches: Prefetches = Prefetches.PORTABLE
    verify_xegpu: bool = False
    marked: bool = False
    source: SourceText = field(default_factory=lambda: SourceText("", ""))
    outputs: Stages = field(default_factory=Stages)
    module: ModuleOp = field(init=False)
    arguments: dict[str, tuple[KernelArgument, ...]] = field(init=False)
    counts_subgroups: set[str] = field(init=False)
    lanes: MlirModule = field(init=False)
    llvm: OptimisedModule = field(init=False)
    emulated_llvm: str = field(init=False)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage by name, the file that it leaves, and the function that returns its contents.

    Contents that no later stage reads may be made later, while another process emits SPIR-V.
    """

    name: str
    file_name: str
    run: Callable[[Compilation], Output | LaterOutput]


def distribute(c: Compilation) -> str | LaterOutput:
    """Distribute the work of a work-group to its sub-groups."""
    distribute_to_subgroups(c.module)
    return xegpu_text(c, "subgroup")


def lower_lanes(c: Compilation) -> LaterOutput:
    """Lower the work of a sub-group to that of one lane, in dialects that MLIR converts to LLVM."""
    lower_to_lanes(c.module, block_limits(c.target), marked=c.marked)
    bf16_to_bits(c.module, instructions=c.target.bf16_conversions)
    with _of_lanes(c):
        c.lanes = MlirModule(generic_text(c.module), "lanes")
    return c.lanes.printer()


def to_llvm(c: Compilation) -> str:
    """Convert to LLVM IR and optimise it."""
    with _of_lanes(c):
        code = c.lanes.to_llvm(c.target.chip)
    with _of_kernel(c):
        found = {kernel.sym_name.data: named_barriers_of(kernel) for kernel in kernels_of(c.module)}
        barriers = {name: count for name, count in found.items() if count is not None}
        # Not of the kernel that multiplies: LLVM would move loads before its K loop, where products need the registers.
        apart, extents = (
            [k.sym_name.data for k in kernels_of(c.module) if stated in k.attributes]
            for stated in (ARGUMENTS_APART, EXTENTS)
        )
        beside = [name for name in apart if name != KERNEL_NAME]
        c.llvm = optimise(code, c.arguments, c.prefetches, barriers, beside, extents)
    return c.llvm.text


def to_spirv(c: Compilation) -> bytes:
    """Emit SPIR-V; meanwhile complete the outputs of earlier stages."""
    with _of_kernel(c):
        return emit_spirv(c.llvm.text, c.outputs.complete)


def emulate_lanes(c: Compilation) -> str:
    """Rewrite LLVM IR for a CPU, with emulated built-ins."""
    c.emulated_llvm = emulate(c.llvm.text)
    return c.emulated_llvm


def emulated_to_spirv(c: Compilation) -> bytes:
    """Emit SPIR-V for a CPU."""
    return emit_spirv(c.emulated_llvm)


LOWERING = (
    Stage("subgroup", "subgroup.mlir", distribute),
    Stage("lanes", "lanes.mlir", lower_lanes),
    Stage("llvm", "llvm.ll", to_llvm),
    Stage("spirv", "kernel.spv", to_spirv),
)
EMULATION = (
    Stage("emulated", "emulated.ll", emulate_lanes),
    Stage("emulated-spirv", "emulated.spv", emulated_to_spirv),
)


def compile_gemm(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> GemmArtifact:
    """Compile the kernels of a GEMM. Pure, but LLVM and MLIR may end the process: see `pool`.

    Raises:
        Refused: a legality rule refuses.
        CompileFailed: a stage failed.
    """
    check(problem, config, spec)
    target = target_of(spec)

    def build(c: Compilation) -> LaterOutput:
        c.module = build_gemm(problem, config, spec)
        _note_kernels(c)
        return partial(_verified_xetile, copy(c.module))

    def lower(c: Compilation) -> str | LaterOutput:
        tile_mma_to_contract(c.module, of=f32)
        lower_gemm(c.module, problem, config, target)
        return xegpu_text(c, "xegpu")

    stages = (Stage("xetile", "xetile.mlir", build), Stage("xegpu", "xegpu.mlir", lower), *LOWERING)
    payloads = config.strategy.prefetch.payloads
    c = Compilation(target, Prefetches.PAYLOADS if payloads else Prefetches.PORTABLE, verify_xegpu=True)
    with subgroups_of(target.subgroup_size):
        outputs = _run((*stages, *EMULATION) if target.emulated else stages, c)
        kernels = _signatures(c)
    return GemmArtifact(
        key=compile_key(problem, config, target),
        content_hash=_hash_of_spirv(outputs),
        problem=problem,
        config=config,
        target=spec.emulates or spec.id,
        stages=outputs,
        launch=launch_spec(problem, config, target, outputs[-1].data, kernels),
        toolchain=dict(toolchain_versions()),
        kernels=kernels,
        memory_paths=memory_paths(problem, target, config.strategy.workspace),
    )


def compile_module(
    source: str,
    spec: DeviceSpec,
    name: str = "<input>",
    *,
    prefetches: Prefetches = Prefetches.PORTABLE,
    block: Extents | None = None,
    marked: bool = False,
) -> KernelArtifact:
    """Compile the kernels of a module: XeTile or XeGPU, at work-group or sub-group level; host functions are ignored.

    Pure, but LLVM and MLIR may end the process: see `pool`. Errors name places in `name`. `prefetches` asks for
    built-ins that only Intel's compiler has. `block` is that of kernels whose threads are sub-groups, counted so, where
    neither they nor a launch in the file say it. `marked` kernels are for `trace_refusal` alone.

    Raises:
        Refused: codegen cannot target the device, or a work-group or a value does not fit on it.
        CompileFailed: a stage failed; parsing and verification are stage "source".
    """
    target = target_of(spec)

    def read(c: Compilation) -> str:
        part = device_part(source)
        c.source = SourceText(name, part.text)
        c.module = parse_source(c.source)
        set_blocks(kernels_of(c.module), part.launches, block)
        _note_kernels(c)
        return text(c.module)

    def lower(c: Compilation) -> str | LaterOutput:
        lower_source(c.module, target)
        check_workgroup_size(kernels_of(c.module), spec)
        return xegpu_text(c, "xegpu")

    stages = (Stage("source", "source.mlir", read), Stage("xegpu", "xegpu.mlir", lower), *LOWERING)
    c = Compilation(target, prefetches, marked=marked)
    with subgroups_of(target.subgroup_size):
        outputs = _run(stages, c)
        kernels = _signatures(c)
    for kernel, signature in zip(kernels_of(c.module), kernels, strict=True):
        _at_places("llvm", c, partial(check_slm, kernel, signature.slm_bytes, spec))
    return KernelArtifact(
        key=content_hash([toolchain_versions(), source, target, prefetches, block, marked]),
        content_hash=_hash_of_spirv(outputs),
        target=spec.emulates or spec.id,
        stages=outputs,
        toolchain=dict(toolchain_versions()),
        kernels=kernels,
    )


def compile_key(problem: GemmProblem, config: XeConfig, target: Target) -> str:
    """Return the hash of everything that a kernel with its launch depends on."""
    return content_hash([toolchain_versions(), problem, config, target])


def code_key(problem: GemmProblem, config: XeConfig, target: Target) -> str:
    """Return the hash of what the code alone depends on: one for all sizes of a dynamic kernel."""
    if (basis := code_basis(problem, config, target)) is None:
        return compile_key(problem, config, target)
    return content_hash([toolchain_versions(), basis, target])


def xegpu_text(c: Compilation, stage: str) -> str | LaterOutput:
    """Return the XeGPU of a compilation as text, which MLIR verifies later where all of it is MLIR's.

    MLIR lacks some forms that GEMMs have (`_NOT_MLIRS`). A module may also hold what only the RFC of the
    dialect has, or layouts that MLIR refuses.
    """
    written = text(c.module)
    if c.verify_xegpu and not any(form.search(written) for form in _NOT_MLIRS):
        return partial(_verified_xegpu, written, stage)
    return written


def _verified_xetile(module: ModuleOp) -> str:
    verify(module)
    return text(module)


def _verified_xegpu(written: str, stage: str) -> str:
    MlirModule(written, stage)
    return written


def _run(stages: Sequence[Stage], c: Compilation) -> tuple[StageOutput, ...]:
    outputs = c.outputs
    try:
        for stage in stages:
            work = partial(_at_places, stage.name, c, partial(stage.run, c))
            outputs.add_or_defer(stage.name, stage.file_name, work)
    finally:
        outputs.complete()  # also where a stage failed: a check of an earlier one fails first
    return outputs.outputs()


@contextmanager
def _of_lanes(c: Compilation) -> Generator[None]:
    """Context in which MLIR's errors, which have their places in the text of the lanes, get those of the source."""
    try:
        yield
    except CompileFailed as failed:
        if failed.place is None:
            raise
        raise OperationFailed.at(operation_at(c.module, failed.place.line), failed.message) from failed


@contextmanager
def _of_kernel(c: Compilation) -> Generator[None]:
    """Context in which LLVM's errors get the place of the kernel that they name, or of the only one."""
    try:
        yield
    except CompileFailed as failed:
        if failed.stage not in _OF_LLVM:
            raise
        kernels = kernels_of(c.module)
        named = _KERNEL.search(failed.message)
        chosen = [kernel for kernel in kernels if named is not None and kernel.sym_name.data == named[1]] or kernels
        if len(chosen) != 1:
            raise
        raise OperationFailed.at(chosen[0], failed.message) from failed


def _at_places(stage: str, c: Compilation, work: Callable[[], T]) -> T:
    """Do a part of a stage; its errors show their places in the source.

    Raises:
        Refused: a legality rule refuses.
        CompileFailed: the part failed at an operation.
    """
    try:
        return work()
    except OperationFailed as failed:
        raise c.source.error(stage, failed) from failed


def _note_kernels(c: Compilation) -> None:
    """Record the source's part of the signatures, before passes change it."""
    kernels = kernels_of(c.module)
    c.arguments = {kernel.sym_name.data: arguments_of(kernel) for kernel in kernels}
    c.counts_subgroups = {kernel.sym_name.data for kernel in kernels if counts_subgroups(kernel)}


def _signatures(c: Compilation) -> tuple[KernelSignature, ...]:
    return tuple(signature_of(kernel, c.arguments, c.llvm, c.counts_subgroups) for kernel in kernels_of(c.module))


def _hash_of_spirv(outputs: Sequence[StageOutput]) -> str:
    (data,) = (output.data for output in outputs if output.name == "spirv")
    return hashlib.sha256(data).hexdigest()
