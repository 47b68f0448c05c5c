"""Compilation of any module with kernels: from XeTile or XeGPU text to SPIR-V."""

import hashlib
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase, MemRefType, ModuleOp, i32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import ParseError

from codegen.artifact import Distribution, Distributor, KernelArtifact
from codegen.canonical import content_hash
from codegen.dialects import gpu, parse, text
from codegen.dialects.host import Launch, device_part
from codegen.errors import CompileFailed, Refused
from codegen.llvm import OptimisedModule, optimise, shared_bytes
from codegen.mlir import XeGpuModule
from codegen.mlir.faults import upstream_faults
from codegen.signature import KernelArgument, KernelSignature
from codegen.spirv import emit_spirv
from codegen.stages import Stages
from codegen.target import SUBGROUP_SIZE, Target, target_of
from codegen.toolchain import toolchain_versions
from codegen.transforms.distribute import distribute_to_subgroups
from codegen.transforms.distribute.analysis import most_subgroups
from codegen.transforms.expand_subgroup_threads import counts_subgroups, expand_subgroup_threads
from codegen.transforms.lanes import lower_to_lanes
from codegen.transforms.legalise_xegpu import legalise_xegpu
from codegen.transforms.lower_xetile import LowerXeTilePass, lower_xetile
from hal import DeviceSpec

_SUBGROUP_LEVEL = "sub-group-level"
_REFUSED = "mlir-refused"
_ASKED = "asked-for"
_SHOWN_CHARACTERS = 200


def compile_module(
    source: str, spec: DeviceSpec, name: str = "<input>", *, distribution: Distributor | None = None
) -> KernelArtifact:
    """Compile the kernels of a module: XeTile or XeGPU, at work-group or sub-group level; host functions are ignored.

    Pure, but LLVM and MLIR may end the process: see `pool`. Errors name places in `name`. `distribution` asks for a
    way to lanes in place of the one that would be chosen.

    Raises:
        Refused: codegen cannot target the device, or a work-group does not fit on it.
        CompileFailed: a stage failed; parsing and verification are stage "source".
    """
    target = target_of(spec)
    stages = Stages()
    part = device_part(source)
    module = stages.run("source", lambda: _parsed(part.text, name))
    kernels = _kernels(module)
    _set_blocks(kernels, part.launches)
    stages.add("source", "source.mlir", lambda: text(module))
    arguments = {kernel.sym_name.data: _arguments(kernel) for kernel in kernels}
    counting = {kernel.sym_name.data for kernel in kernels if counts_subgroups(kernel)}

    stages.run("xegpu", lambda: _to_xegpu(module, target))
    taken, bitcode = _lower(module, stages, target, distribution)
    optimised = stages.run("llvm", lambda: optimise(bitcode, arguments))
    signatures = tuple(_signature(kernel, arguments, optimised, counting) for kernel in _kernels(module))
    for signature in signatures:
        _check_fits(signature, spec)
    stages.add("llvm", "llvm.ll", lambda: optimised.text)
    spirv = stages.add("spirv", "kernel.spv", lambda: emit_spirv(optimised.text))
    return KernelArtifact(
        key=content_hash([toolchain_versions(), source, target, distribution]),
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


def _kernels(module: ModuleOp) -> tuple[gpu.FuncOp, ...]:
    kernels = tuple(op for op in module.walk() if isinstance(op, gpu.FuncOp) and op.kernel is not None)
    names = [kernel.sym_name.data for kernel in kernels]
    if not kernels:
        raise CompileFailed("source", "expected a gpu.module with a gpu.func that is a kernel, got none")
    if len(set(names)) != len(names):
        raise CompileFailed("source", f"expected kernels of different names, got {', '.join(names)}")
    return kernels


def _set_blocks(kernels: Sequence[gpu.FuncOp], launches: Sequence[Launch]) -> None:
    """A kernel that does not say its block has that of its launches, if they agree."""
    for kernel in kernels:
        name = kernel.sym_name.data
        blocks = {launch.block for launch in launches if launch.kernel == name and launch.block is not None}
        if len(blocks) > 1 and kernel.known_block_size is None:
            raise CompileFailed("source", f"expected one block in the launches of {name}, got {sorted(blocks)}")
        if kernel.known_block_size is None and blocks:
            kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, blocks.pop())


def _to_xegpu(module: ModuleOp, target: Target) -> None:
    expand_subgroup_threads(module)
    lower_xetile(module, LowerXeTilePass())
    module.verify()


def _lower(module: ModuleOp, stages: Stages, target: Target, asked: Distributor | None) -> tuple[Distribution, bytes]:
    """Take MLIR's path, or ours where that has a fault that is known or refuses the module; or the one asked for."""
    because = _why_not_mlir(module)
    if asked is Distributor.MLIR:
        if because:
            raise CompileFailed(
                "xegpu", f"expected a module that MLIR's pipeline lowers rightly, got one with {', '.join(because)}"
            )
        return Distribution(asked), _by_mlir(module, stages, target)
    if asked is Distributor.XETUNE:
        return Distribution(asked, because or (_ASKED,)), _by_xetune(module, stages, target)
    if not because:
        try:
            return Distribution(Distributor.MLIR), _by_mlir(module.clone(), stages, target)
        except CompileFailed as failed:
            because = (f"{_REFUSED}: {failed.message[:_SHOWN_CHARACTERS]}",)
    return Distribution(Distributor.XETUNE, because), _by_xetune(module, stages, target)


def _why_not_mlir(module: ModuleOp) -> tuple[str, ...]:
    """MLIR's pipeline is given work-group-level kernels that run into none of its faults."""
    because = {fault.name for fault in upstream_faults(module)}
    for kernel in _kernels(module):
        subgroups = most_subgroups(kernel)
        if not subgroups:
            because.add(_SUBGROUP_LEVEL)
        elif kernel.known_block_size is None:
            kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, (subgroups * SUBGROUP_SIZE, 1, 1))
    return tuple(sorted(because))


def _by_mlir(module: ModuleOp, stages: Stages, target: Target) -> bytes:
    xegpu = stages.run("xegpu", lambda: _legal(module))
    stages.add("xegpu", "xegpu.mlir", lambda: str(xegpu))
    return stages.run("llvm", lambda: xegpu.lower(target.chip))


def _legal(module: ModuleOp) -> XeGpuModule:
    legalise_xegpu(module)
    return XeGpuModule(text(module, generic=True))


def _by_xetune(module: ModuleOp, stages: Stages, target: Target) -> bytes:
    stages.add("xegpu", "xegpu.mlir", lambda: text(module))
    stages.run("subgroup", lambda: distribute_to_subgroups(module))
    stages.add("subgroup", "subgroup.mlir", lambda: text(module))
    stages.run("lanes", lambda: lower_to_lanes(module))
    lanes = stages.run("lanes", lambda: XeGpuModule(text(module, generic=True)))
    stages.add("lanes", "lanes.mlir", lambda: str(lanes))
    return stages.run("llvm", lambda: lanes.lower(target.chip, "lane"))


def _arguments(kernel: gpu.FuncOp) -> tuple[KernelArgument, ...]:
    block = kernel.body.blocks[0]
    names = [argument.name_hint or f"arg{i}" for i, argument in enumerate(block.args)]
    return tuple(_argument(name, argument.type) for name, argument in zip(names, block.args, strict=True))


def _argument(name: str, type_: Attribute) -> KernelArgument:
    if not isinstance(type_, MemRefType):
        return KernelArgument(name, str(type_))
    shape = tuple(None if extent == DYNAMIC_INDEX else extent for extent in type_.get_shape())
    return KernelArgument(name, str(type_.element_type), shape, _strides(type_))


def _strides(type_: MemRefType) -> tuple[int | None, ...]:
    """In elements, None where the launch says them; a map that permutes the dimensions says the order in memory."""
    strides = type_.get_strides()
    if strides is not None:
        return tuple(strides)
    assert isinstance(type_.layout, AffineMapAttr)
    stored = [r.position for r in type_.layout.data.results if isinstance(r, AffineDimExpr)]
    if sorted(stored) != list(range(type_.get_num_dims())) or not type_.has_static_shape():
        raise CompileFailed("source", f"expected an argument in rows, columns or strides, got {type_}")
    result, step = [0] * len(stored), 1
    for axis in reversed(stored):
        result[axis], step = step, step * type_.get_shape()[axis]
    return tuple(result)


def _signature(
    kernel: gpu.FuncOp,
    arguments: dict[str, tuple[KernelArgument, ...]],
    optimised: OptimisedModule,
    counting: set[str],
) -> KernelSignature:
    name = kernel.sym_name.data
    size = kernel.known_block_size
    local_size = None if size is None else tuple(size.get_values())
    assert local_size is None or len(local_size) == 3  # gpu.func's verifier
    return KernelSignature(
        name,
        arguments[name],
        optimised.parameters[name],
        local_size,
        name in counting,
        shared_bytes(optimised.text, name),
    )


def _check_fits(signature: KernelSignature, spec: DeviceSpec) -> None:
    """A work-group must have room on the device.

    Raises:
        Refused: module-workgroup-size or module-slm, with what the device has.
    """
    items = prod(signature.local_size or (0,))
    if spec.max_workgroup_size is not None and items > spec.max_workgroup_size:
        raise Refused(
            "module-workgroup-size",
            f"kernel {signature.name} has {items} work-items in a work-group; {spec.name} allows "
            f"{spec.max_workgroup_size}: use fewer sub-groups",
        )
    if spec.max_slm_bytes is not None and signature.slm_bytes > spec.max_slm_bytes:
        raise Refused(
            "module-slm",
            f"kernel {signature.name} needs {signature.slm_bytes} bytes of shared local memory, for its own buffers "
            f"and for values that move between sub-groups; {spec.name} has {spec.max_slm_bytes}: use smaller tiles, "
            "or maps between which nothing moves",
        )
