"""Kernel parameters: only those fields of the arguments that a kernel reads.

MLIR expands a memref argument to its fields: allocated and aligned pointer, offset, sizes, strides. The
aligned pointer is kept, and those of the others that the kernel uses.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import llvmlite.binding as llvm

from codegen.artifact.signature import (
    Field,
    KernelArgument,
    Parameter,
)
from codegen.errors import CompileFailed
from codegen.problem.gemm import MAX_DIMENSION
from codegen.xe.dialects.kernel_attributes import EXTENT_NAMES

_Named = tuple[str, Parameter | None]  # None: a field that launches do not pass
_PARAMETER = re.compile(r"(?:, )?([^%]*%[\w.]+)")
_POINTER = re.compile(r"\bptr addrspace\(\d+\)")
_RANGE = f" range(i64 1, {MAX_DIMENSION + 1})"
_HEAD = r"define [^\n]*@{name}\((?P<parameters>.*)\) [^\n]*{{$"


def name_parameters(kernel: llvm.ValueRef, arguments: Sequence[KernelArgument]) -> None:
    """Name the parameters after their fields; `%A` is the pointer of A, `%A.size0` its first extent.

    Raises:
        CompileFailed: the kernel does not have the parameters of these arguments.
    """
    parameters, names = list(kernel.arguments), [name for name, _ in _expanded(arguments)]
    if len(parameters) != len(names):
        raise CompileFailed("llvm", f"expected {len(names)} kernel parameters, got {len(parameters)}")
    for parameter, name in zip(parameters, names, strict=True):
        parameter.name = name


def state_apart(text: str, kernel: str) -> str:
    """Return a module that states of the pointers of a kernel that no two access the same memory if it is written."""
    return _with_parameters(text, kernel, lambda parameters: _POINTER.sub(r"\g<0> noalias", parameters))


def drop_apart(text: str, kernel: str) -> str:
    """Return a module without what `state_apart` states of a kernel."""
    return _with_parameters(text, kernel, lambda parameters: parameters.replace(" noalias", ""))


def state_extents(text: str, kernel: str, arguments: Sequence[KernelArgument]) -> str:
    """Return a module that states of the scalars m, n and k of a kernel that they are from 1 to MAX_DIMENSION: without
    it, code for a K loop that does not run holds other accumulators.
    """
    names = [name for name, _ in _expanded(arguments)]

    def stated(parameters: str) -> str:
        written = zip(parameters.split(", "), names, strict=True)
        return ", ".join(one.replace("i64", f"i64{_RANGE}") if name in EXTENT_NAMES else one for one, name in written)

    return _with_parameters(text, kernel, stated)


def drop_extents(text: str, kernel: str) -> str:
    """Return a module without what `state_extents` states of a kernel."""
    return _with_parameters(text, kernel, lambda parameters: parameters.replace(_RANGE, ""))


def keep_used_parameters(
    text: str, kernel: str, arguments: Sequence[KernelArgument]
) -> tuple[str, tuple[Parameter, ...]]:
    """Drop the fields that `kernel` does not use; return the text and the remaining parameters, in order.

    Raises:
        CompileFailed: the kernel uses the allocated pointer, which launches do not pass.
    """
    head = _head(text, kernel)
    end = text.index("\n}", head.end())
    body = text[head.end() : end]
    # Attributes may contain commas: ptr addrspace(1) initializes((0, 4)) %A.
    written, kept, parameters = _PARAMETER.findall(head["parameters"]), list[str](), list[Parameter]()
    reads_fields = any(f"%{argument.name}." in body for argument in arguments)  # most kernels use pointers alone
    for declaration, (name, parameter) in zip(written, _expanded(arguments), strict=True):
        if parameter is None:
            if reads_fields and _uses(body, name):
                raise CompileFailed("llvm", f"kernel {kernel} uses %{name}, which no launch gives")
        elif parameter.field in (Field.POINTER, Field.VALUE) or (reads_fields and _uses(body, name)):
            kept.append(declaration)
            parameters.append(parameter)
    return text[: head.start("parameters")] + ", ".join(kept) + text[head.end("parameters") :], tuple(parameters)


def _head(text: str, kernel: str) -> re.Match[str]:
    head = re.search(_HEAD.format(name=re.escape(kernel)), text, re.MULTILINE)
    if head is None:
        raise CompileFailed("llvm", f"no definition of kernel {kernel}")
    return head


def _with_parameters(text: str, kernel: str, change: Callable[[str], str]) -> str:
    head = _head(text, kernel)
    return text[: head.start("parameters")] + change(head["parameters"]) + text[head.end("parameters") :]


def _uses(body: str, name: str) -> bool:
    # Most are not there, which a search for the plain text tells at once.
    return f"%{name}" in body and re.search(rf"%{re.escape(name)}(?![\w.])", body) is not None


def _expanded(arguments: Sequence[KernelArgument]) -> Iterator[_Named]:
    for index, argument in enumerate(arguments):
        if argument.shape is None:
            yield argument.name, Parameter(index, Field.VALUE)
            continue
        yield f"{argument.name}.allocated", None
        yield argument.name, Parameter(index, Field.POINTER)
        yield f"{argument.name}.offset", Parameter(index, Field.OFFSET)
        for axis in range(len(argument.shape)):
            yield f"{argument.name}.size{axis}", Parameter(index, Field.SIZE, axis)
        for axis in range(len(argument.shape)):
            yield f"{argument.name}.stride{axis}", Parameter(index, Field.STRIDE, axis)
