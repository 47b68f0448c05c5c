"""Kernel parameters: only the pointers that the kernel reads.

MLIR expands a memref parameter to seven: allocated and aligned pointer, offset, two sizes, two strides. A kernel
of static shape uses the aligned pointer alone.
"""

import re

import llvmlite.binding as llvm

from codegen.errors import CompileFailed

_MEMREF_FIELDS = (".allocated", "", ".offset", ".size0", ".size1", ".stride0", ".stride1")


def name_arguments(kernel: llvm.ValueRef, operands: tuple[str, ...]) -> None:
    """Name the parameters after the memref field they carry; `%A` is the aligned pointer of A.

    Raises:
        CompileFailed: the kernel does not have seven parameters for each operand.
    """
    arguments = list(kernel.arguments)
    names = [operand + field for operand in operands for field in _MEMREF_FIELDS]
    if len(arguments) != len(names):
        raise CompileFailed("llvm", f"expected {len(names)} kernel parameters, got {len(arguments)}")
    for argument, name in zip(arguments, names, strict=True):
        argument.name = name


def bare_pointers(text: str, kernel: str) -> str:
    """Drop the parameters of `kernel` that carry other memref fields.

    Raises:
        CompileFailed: the kernel uses one of them.
    """
    head = re.search(rf"^define [^\n]*@{re.escape(kernel)}\((?P<parameters>.*)\) [^\n]*{{$", text, re.MULTILINE)
    if head is None:
        raise CompileFailed("llvm", f"no definition of kernel {kernel}")
    parameters = head["parameters"].split(", ")
    dropped = [p.split()[-1] for p in parameters if "." in p.split()[-1]]
    body = text[head.end() :]
    for name in dropped:
        if re.search(re.escape(name) + r"(?![\w.])", body):
            raise CompileFailed("llvm", f"the kernel uses {name}, which a kernel of static shape does not need")
    kept = ", ".join(p for p in parameters if p.split()[-1] not in dropped)
    return text[: head.start("parameters")] + kept + text[head.end("parameters") :]
