"""Kernels of a module: arguments, signatures, and device limits."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ContainerType,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    f64,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr

from codegen.artifact.signature import (
    KernelArgument,
    KernelSignature,
)
from codegen.errors import InvalidLaunch
from codegen.simulate.run_module import dtype_of
from codegen.target import Target
from codegen.xe.dialects import gpu
from codegen.xe.dialects.creation import walk
from codegen.xe.llvm import (
    OptimisedModule,
    shared_bytes,
)
from codegen.xe.locations import OperationFailed
from codegen.xe.passes.lanes import assumptions_of
from codegen.xe.subgroup import subgroup_size
from hal import DeviceSpec


def kernels_of(module: ModuleOp) -> tuple[gpu.FuncOp, ...]:
    """Return the kernels of a module: at least one, with distinct names.

    Raises:
        OperationFailed: there is no kernel, or two have the same name.
    """
    modules = [op for op in module.body.ops if isinstance(op, gpu.ModuleOp)]
    kernels = tuple(op for m in modules for op in m.body.ops if isinstance(op, gpu.FuncOp) and op.kernel is not None)
    names = [kernel.sym_name.data for kernel in kernels]
    if not kernels:
        raise OperationFailed.at(
            modules[0] if modules else module, "expected a gpu.module with a gpu.func that is a kernel, got none"
        )
    for number, kernel in enumerate(kernels):
        if names[number] in names[:number]:
            raise OperationFailed.at(kernel, f"expected kernels of different names, got {', '.join(names)}")
    return kernels


def check_operations(kernels: Sequence[gpu.FuncOp]) -> None:
    """Reject vector transfers, which `vector-to-xetile` rewrites.

    Raises:
        OperationFailed: a kernel has vector transfers.
    """
    for kernel in kernels:
        for op in walk(kernel):
            if isinstance(op, vector.TransferReadOp | vector.TransferWriteOp):
                raise OperationFailed.at(
                    op,
                    f"kernel {kernel.sym_name.data}: expected XeTile or XeGPU, got {op.name}: "
                    "convert it with `xetune opt FILE --pass vector-to-xetile`",
                )


def check_doubles(kernel: gpu.FuncOp, target: Target) -> None:
    """Reject a kernel that computes in f64 on a GPU that does not.

    Raises:
        OperationFailed: rule module-fp64, at the first operation.
    """
    if target.fp64:
        return
    for op in walk(kernel):
        if any(_element(value.type) == f64 for value in (*op.operands, *op.results)):
            raise OperationFailed.at(
                op,
                f"kernel {kernel.sym_name.data}: {op.name} uses f64, and {target.chip} computes no f64: use f32",
                "module-fp64",
            )


def _element(type_: Attribute) -> Attribute:
    return type_.get_element_type() if isinstance(type_, ContainerType) else type_


def arguments_of(kernel: gpu.FuncOp) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel as in its source, without the buffers that the function declares.

    Raises:
        OperationFailed: an argument is of a type that no launch can pass.
    """
    given = kernel.body.blocks[0].args[: len(kernel.function_type.inputs)]
    names = [argument.name_hint or f"arg{i}" for i, argument in enumerate(given)]
    arguments: list[KernelArgument] = []
    for name, argument in zip(names, given, strict=True):
        try:
            arguments.append(_argument(name, argument.type))
        except InvalidLaunch as error:
            message = f"kernel {kernel.sym_name.data}: argument {name}: {error}"
            raise OperationFailed.at(kernel, message) from error
    return tuple(arguments)


def _argument(name: str, type_: Attribute) -> KernelArgument:
    """Return an argument.

    Raises:
        InvalidLaunch: no launch can pass such a type.
    """
    if not isinstance(type_, MemRefType | IntegerType | IndexType | AnyFloat):
        raise InvalidLaunch(f"expected a memref of known rank or a scalar, got {type_}")
    element = str(type_.element_type if isinstance(type_, MemRefType) else type_)
    dtype_of(element)
    if not isinstance(type_, MemRefType):
        return KernelArgument(name, element)
    shape = tuple(None if extent == DYNAMIC_INDEX else extent for extent in type_.get_shape())
    return KernelArgument(name, element, shape, _strides(type_))


def _strides(type_: MemRefType) -> tuple[int | None, ...]:
    """Return the strides in elements, None if passed by the launch; a permutation map gives the order in memory."""
    strides = type_.get_strides()
    if strides is not None:
        return tuple(strides)
    assert isinstance(type_.layout, AffineMapAttr)
    stored = [r.position for r in type_.layout.data.results if isinstance(r, AffineDimExpr)]
    if sorted(stored) != list(range(type_.get_num_dims())) or not type_.has_static_shape():
        raise InvalidLaunch(f"expected a memref in rows, columns or strides, got {type_}")
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


def check_workgroup_size(kernels: Sequence[gpu.FuncOp], spec: DeviceSpec) -> None:
    """Check that the work-groups of kernels are no larger than the device's.

    Raises:
        OperationFailed: rule module-workgroup-size, with the device's limit.
    """
    for kernel in kernels:
        items = 0 if kernel.known_block_size is None else prod(kernel.known_block_size.get_values())
        if spec.max_workgroup_size is not None and items > spec.max_workgroup_size:
            raise OperationFailed.at(
                kernel,
                f"kernel {kernel.sym_name.data} has {items} work-items in a work-group; {spec.name} allows "
                f"{spec.max_workgroup_size}: use fewer sub-groups",
                "module-workgroup-size",
            )


def check_slm(kernel: gpu.FuncOp, nbytes: int, spec: DeviceSpec) -> None:
    """Check that the shared local memory of a kernel fits the device.

    Raises:
        OperationFailed: rule module-slm, with the device's limit.
    """
    if spec.max_slm_bytes is not None and nbytes > spec.max_slm_bytes:
        raise OperationFailed.at(
            kernel,
            f"kernel {kernel.sym_name.data} needs {nbytes} bytes of shared local memory, for its own buffers "
            f"and for values that move between sub-groups; {spec.name} has {spec.max_slm_bytes}: use smaller tiles, "
            "or maps without movement between sub-groups",
            "module-slm",
        )
