"""Simulation of a compiled kernel on numpy arrays, with the arguments of its source."""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from codegen.artifact.kernel_artifact import KernelArtifact
from codegen.artifact.signature import (
    Field,
    KernelArgument,
    KernelSignature,
    Parameter,
)
from codegen.errors import InvalidLaunch
from codegen.simulate import (
    Execute,
    SimulationReport,
    run_kernel,
)
from codegen.simulate.values import f64_to_bf16

TIME_LIMIT_S = 600.0
_ALIGNMENT = 64  # bytes that rows of a matrix may always be apart

Array = NDArray[np.generic]
Value = Array | int | float
Extents = tuple[int, int, int]

# bf16 has no numpy type: its bits.
_DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "tf32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i1": np.bool_,
    "index": np.int64,
}


def simulate_module(
    artifact: KernelArtifact,
    kernel: str,
    grid: Extents,
    block: Extents | None,
    args: Sequence[Value],
    execute: Execute | None = None,
    time_limit_s: float = TIME_LIMIT_S,
) -> SimulationReport:
    """Run `kernel` on `args`, in its source's order: arrays for memory (changed in place), numbers for scalars.

    `grid` counts work-groups; `block` counts threads as the source does and may be None where the kernel says it.
    bf16 is held as its bits in uint16. A memref's dynamic extents and strides are those of the array. `execute` runs
    the kernel, by default its final LLVM IR.

    Raises:
        InvalidLaunch: no such kernel, or arguments that are not what it takes or relies on.
        SimulationRefused: something that the simulator cannot represent, a race among it.
        SimulationTimedOut: `time_limit_s` passed, in an endless loop or not.
    """
    signature = kernel_of(artifact, kernel)
    if len(args) != len(signature.arguments):
        names = ", ".join(argument.name for argument in signature.arguments)
        raise InvalidLaunch(f"{kernel}: expected {len(signature.arguments)} arguments ({names}), got {len(args)}")
    for argument, value in zip(signature.arguments, args, strict=True):
        _check(kernel, argument, value)
    _check_assumptions(signature, args)
    held = [_held(argument, value) for argument, value in zip(signature.arguments, args, strict=True)]
    values = [_parameter(parameter, held[parameter.argument]) for parameter in signature.parameters]
    ll = artifact.stage("llvm").data.decode()
    execute = execute or partial(run_kernel, ll, time_limit_s=time_limit_s)
    return execute(kernel, grid, work_items(signature, block), values)


def kernel_of(artifact: KernelArtifact, kernel: str) -> KernelSignature:
    """Return the signature of the kernel of that name.

    Raises:
        InvalidLaunch: there is none.
    """
    for signature in artifact.kernels:
        if signature.name == kernel:
            return signature
    raise InvalidLaunch(f"expected a kernel of {', '.join(k.name for k in artifact.kernels)}, got {kernel}")


def dtype_of(element: str) -> type[np.generic]:
    """Return the numpy type that holds an element as MLIR spells its type; signs do not matter.

    Raises:
        InvalidLaunch: there is none.
    """
    unsigned = element.startswith("ui")
    dtype = _DTYPES.get(element.removeprefix("s").removeprefix("u") if element[:2] in ("si", "ui") else element)
    if dtype is None:
        raise InvalidLaunch(f"expected elements of {', '.join(_DTYPES)}, got {element}")
    return np.dtype(f"u{np.dtype(dtype)}").type if unsigned else dtype


def work_items(signature: KernelSignature, block: Extents | None) -> Extents:
    """Return the work-group in work-items: the kernel's own, which `block` may repeat, or `block`.

    Raises:
        InvalidLaunch: neither says it, or they differ.
    """
    said = signature.local_size
    if block is None:
        if said is None:
            raise InvalidLaunch(f"{signature.name}: expected a block, as the kernel does not say one")
        return said
    wanted = (block[0] * block[1] * block[2] * signature.subgroup_size, 1, 1) if signature.counts_subgroups else block
    if said is not None and wanted != said:
        raise InvalidLaunch(f"{signature.name}: expected the block {said} that it was compiled for, got {wanted}")
    return wanted


def _check(kernel: str, argument: KernelArgument, value: Value) -> None:
    where = f"{kernel}: argument {argument.name}"
    if argument.shape is None:
        if isinstance(value, np.ndarray) and argument.element not in ("i64", "ui64", "index"):
            raise InvalidLaunch(f"{where}: expected a number of type {argument.element}, got an array")
        return
    if not isinstance(value, np.ndarray):
        raise InvalidLaunch(f"{where}: expected an array, got {value!r}")
    dtype = np.dtype(dtype_of(argument.element))
    if value.dtype.itemsize != dtype.itemsize or (value.dtype.kind == "f") != (dtype.kind == "f"):
        raise InvalidLaunch(f"{where}: expected an array of {dtype} for {argument.element}, got {value.dtype}")
    strides = tuple(stride // value.itemsize for stride in value.strides)
    said = tuple(None if n == 1 else s for n, s in zip(value.shape, argument.strides or (), strict=False))
    for what, expected, got in (("shape", argument.shape, value.shape), ("strides", said, strides)):
        if len(expected) != len(got) or any(e not in (None, g) for e, g in zip(expected, got, strict=True)):
            wanted = "x".join("?" if extent is None else str(extent) for extent in expected)
            raise InvalidLaunch(f"{where}: expected an array of {what} {wanted}, got {'x'.join(map(str, got))}")


def _check_assumptions(signature: KernelSignature, args: Sequence[Value]) -> None:
    """Check that a kernel's assumptions hold for its arguments. Memory of an array is aligned as required."""
    for assumption in signature.assumes or ():
        terms = [[_number(p, args[p.argument]) for p in term.of] for term in assumption.terms]
        value = sum(term.factor * prod(numbers) for term, numbers in zip(assumption.terms, terms, strict=True))
        if assumption.terms and not assumption.holds(value):
            wanted = assumption.in_words(signature.arguments)
            raise InvalidLaunch(f"{signature.name}: expected {wanted}; got {value}")


def _held(argument: KernelArgument, value: Value) -> Value:
    """Return the value as the kernel takes it: the bits of a number of bf16."""
    if argument.element != "bf16" or not isinstance(value, int | float):
        return value
    return int(f64_to_bf16(np.array([value], np.float64))[0])


def _number(parameter: Parameter, value: Value) -> int:
    """Return the value of a parameter; 0 for the address of an array's memory."""
    carried = _parameter(parameter, value)
    return 0 if isinstance(carried, np.ndarray) else int(carried)


def _parameter(parameter: Parameter, value: Value) -> Value:
    if not isinstance(value, np.ndarray):
        return value
    if parameter.field in (Field.VALUE, Field.POINTER):
        return _memory(value)
    if parameter.field is Field.OFFSET:
        return 0
    if parameter.field is Field.SIZE:
        return value.shape[parameter.axis]
    if value.shape[parameter.axis] == 1:
        return _free_stride(value)
    return value.strides[parameter.axis] // value.itemsize


def _free_stride(array: Array) -> int:
    """Return a stride, in elements, for a dimension of one element: any that block messages accept."""
    return -(-_span(array) * array.itemsize // _ALIGNMENT) * _ALIGNMENT // array.itemsize


def _memory(array: Array) -> Array:
    """Return all memory from an array's first element to its last, including gaps between rows."""
    if array.flags.c_contiguous:
        return array
    return np.lib.stride_tricks.as_strided(array, (_span(array),), (array.itemsize,))


def _span(array: Array) -> int:
    """Return the elements from an array's first to its last, in memory."""
    return 1 + sum((n - 1) * stride // array.itemsize for n, stride in zip(array.shape, array.strides, strict=True))
