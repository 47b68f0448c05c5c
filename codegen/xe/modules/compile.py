"""Compilation of any module with kernels: from XeTile or XeGPU text to SPIR-V."""

import hashlib

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from codegen.artifact.kernel_artifact import (
    Distributor,
    KernelArtifact,
)
from codegen.artifact.stages import Stages
from codegen.artifact.toolchain import toolchain_versions
from codegen.errors import CompileFailed
from codegen.serialization import content_hash
from codegen.target import Target, target_of
from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.dialects.gpu.host import (
    Extents,
    device_part,
)
from codegen.xe.dialects.maps import WgMap
from codegen.xe.llvm import (
    OptimisedModule,
    Prefetches,
    optimise,
)
from codegen.xe.modules.blocks import (
    check_blocks,
    set_blocks,
)
from codegen.xe.modules.kernels import (
    arguments_of,
    check_fits,
    check_operations,
    kernels_of,
    signature_of,
)
from codegen.xe.modules.registers import check_registers
from codegen.xe.modules.ways import lower
from codegen.xe.passes.expand_subgroup_threads import (
    counts_subgroups,
    expand_subgroup_threads,
)
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from codegen.xe.spirv import emit_spirv
from hal import DeviceSpec


def compile_module(
    source: str,
    spec: DeviceSpec,
    name: str = "<input>",
    *,
    distribution: Distributor | str | None = None,
    prefetches: Prefetches = Prefetches.PORTABLE,
    block: Extents | None = None,
) -> KernelArtifact:
    """Compile the kernels of a module: XeTile or XeGPU, at work-group or sub-group level; host functions are ignored.

    Pure, but LLVM and MLIR may end the process: see `pool`. Errors name places in `name`. `distribution` asks for a
    way to lanes in place of the one that would be chosen, `prefetches` for built-ins that only Intel's compiler has.
    `block` is that of kernels whose threads are sub-groups, counted so, where neither they nor a launch in the file
    say it.

    Raises:
        ValueError: there is no such way.
        Refused: codegen cannot target the device, or a work-group or a value does not fit on it.
        CompileFailed: a stage failed; parsing and verification are stage "source".
    """
    asked = None if distribution is None else Distributor(distribution)
    target = target_of(spec)
    stages = Stages()
    part = device_part(source)
    module = stages.run("source", lambda: _parsed(part.text, name))
    kernels = kernels_of(module)
    check_operations(kernels)
    set_blocks(kernels, part.launches, block)
    stages.add("source", "source.mlir", lambda: text(module))
    arguments = {kernel.sym_name.data: arguments_of(kernel) for kernel in kernels}
    counting = {kernel.sym_name.data for kernel in kernels if counts_subgroups(kernel)}

    stages.run("xegpu", lambda: _to_xegpu(module, target))
    check_blocks(kernels_of(module))
    for kernel in kernels_of(module):
        check_registers(kernel, target)

    def finish(bitcode: bytes) -> tuple[OptimisedModule, bytes]:
        optimised = stages.run("llvm", lambda: optimise(bitcode, arguments, prefetches))
        stages.add("llvm", "llvm.ll", lambda: optimised.text)
        return optimised, stages.add("spirv", "kernel.spv", lambda: emit_spirv(optimised.text))

    taken, (optimised, spirv) = lower(module, stages, target, asked, finish)
    signatures = tuple(signature_of(kernel, arguments, optimised, counting) for kernel in kernels_of(module))
    for signature in signatures:
        check_fits(signature, spec)
    return KernelArtifact(
        key=content_hash([toolchain_versions(), source, target, asked, prefetches, block]),
        content_hash=hashlib.sha256(spirv).hexdigest(),
        target=spec.emulates or spec.id,
        stages=stages.outputs(),
        toolchain=dict(toolchain_versions()),
        kernels=signatures,
        distribution=taken,
    )


def _parsed(source: str, name: str) -> ModuleOp:
    try:
        module = parse(source, name)
    except ParseError as error:
        raise CompileFailed("source", str(error)) from error
    module.verify()
    return module


def _to_xegpu(module: ModuleOp, target: Target) -> None:
    expand_subgroup_threads(module)
    largest = target.block2d_max_rows, target.block2d_max_width_bytes  # of bytes: as many as fit of longer elements
    lower_xetile(module, LowerXeTilePass(load_a=largest, load_b=largest, prefetch=largest))
    for op in module.walk():  # what it said is in the layouts now, and MLIR does not know it
        if isinstance(op.attributes.get("map"), WgMap):
            del op.attributes["map"]
    module.verify()
