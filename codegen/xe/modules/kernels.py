"""Kernels of a module: arguments, signatures, and device limits."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, MemRefType, ModuleOp, UnrankedMemRefType, VectorType
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr

from codegen.artifact.signature import (
    KernelArgument,
    KernelSignature,
)
from codegen.errors import CompileFailed, InvalidLaunch, Refused
from codegen.simulate.run_module import dtype_of
from codegen.xe.dialects import gpu
from codegen.xe.llvm import (
    OptimisedModule,
    shared_bytes,
)
from codegen.xe.passes.lanes import assumptions_of
from codegen.xe.subgroup import subgroup_size
from hal import DeviceSpec


def kernels_of(module: ModuleOp) -> tuple[gpu.FuncOp, ...]:
    """Return the kernels of a module: at least one, with distinct names.

    Raises:
        CompileFailed: stage source; there is no kernel, or two have the same name.
    """
    modules = [op for op in module.body.ops if isinstance(op, gpu.ModuleOp)]
    kernels = tuple(op for m in modules for op in m.body.ops if isinstance(op, gpu.FuncOp) and op.kernel is not None)
    names = [kernel.sym_name.data for kernel in kernels]
    if not kernels:
        raise CompileFailed("source", "expected a gpu.module with a gpu.func that is a kernel, got none")
    if len(set(names)) != len(names):
        raise CompileFailed("source", f"expected kernels of different names, got {', '.join(names)}")
    return kernels


def check_operations(kernels: Sequence[gpu.FuncOp]) -> None:
    """Reject vector transfers, which `vector-to-xetile` rewrites.

    Raises:
        CompileFailed: stage source; a kernel has vector transfers.
    """
    for kernel in kernels:
        for op in kernel.walk():
            if isinstance(op, vector.TransferReadOp | vector.TransferWriteOp):
                raise CompileFailed(
                    "source",
                    f"kernel {kernel.sym_name.data}: expected XeTile or XeGPU, got {op.name}: "
                    "convert it with `xetune opt FILE --pass vector-to-xetile`",
                )


def arguments_of(kernel: gpu.FuncOp) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel as in its source, without the buffers that the function declares."""
    given = kernel.body.blocks[0].args[: len(kernel.function_type.inputs)]
    names = [argument.name_hint or f"arg{i}" for i, argument in enumerate(given)]
    return tuple(_argument(name, argument.type) for name, argument in zip(names, given, strict=True))


def _argument(name: str, type_: Attribute) -> KernelArgument:
    if isinstance(type_, UnrankedMemRefType | VectorType):
        raise CompileFailed("source", f"argument {name}: expected a memref of known rank or a scalar, got {type_}")
    if not isinstance(type_, MemRefType):
        return KernelArgument(name, str(type_))
    _check_element(name, type_.element_type)
    shape = tuple(None if extent == DYNAMIC_INDEX else extent for extent in type_.get_shape())
    return KernelArgument(name, str(type_.element_type), shape, _strides(type_))


def _check_element(name: str, element: Attribute) -> None:
    """Check that memory has elements of a type that a launch can pass."""
    try:
        dtype_of(str(element))
    except InvalidLaunch as error:
        raise CompileFailed("source", f"argument {name}: {error}") from error


def _strides(type_: MemRefType) -> tuple[int | None, ...]:
    """Return the strides in elements, None if passed by the launch; a permutation map gives the order in memory."""
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


def signature_of(
    kernel: gpu.FuncOp,
    arguments: dict[str, tuple[KernelArgument, ...]],
    optimised: OptimisedModule,
    counting: set[str],
) -> KernelSignature:
    """Return the launch signature of a kernel: `arguments` of all kernels, `counting` those that count sub-groups."""
    name = kernel.sym_name.data
    size = kernel.known_block_size
    local_size = None if size is None else tuple(size.get_values())
    assert local_size is None or len(local_size) == 3  # checked by gpu.func's verifier
    return KernelSignature(
        name,
        arguments[name],
        optimised.parameters[name],
        local_size,
        name in counting,
        shared_bytes(optimised.text, name),
        assumptions_of(kernel),
        subgroup_size(),
    )


def check_fits(signature: KernelSignature, spec: DeviceSpec) -> None:
    """Check that a work-group fits the device.

    Raises:
        Refused: module-workgroup-size or module-slm, with the device's limit.
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
            "or maps without movement between sub-groups",
        )
