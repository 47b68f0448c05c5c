"""Rewriting of a module so that one work-item runs a whole sub-group."""

import re

from codegen.emulate.control.lanes import analyse
from codegen.emulate.kernel import Kernel
from codegen.emulate.refusal import STAGE
from codegen.emulate.rows.rows import Functions
from codegen.emulate.work_item_ids import emulated_sizes
from codegen.errors import CompileFailed
from codegen.simulate.llvm_ir.ir import Function
from codegen.simulate.llvm_ir.parser import parse_kernel
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import LANES

_KERNELS = re.compile(r"^define [^\n]*spir_kernel [^\n]*@(?P<name>[\w.$-]+)\(", re.MULTILINE)
_HEADER = re.compile(r"^target (?:datalayout|triple) = [^\n]*$", re.MULTILINE)


def emulate(ll: str) -> str:
    """Return the module of kernels' final LLVM IR, with one work-item per sub-group and emulated built-ins.

    A work-group has as many work-items as it had sub-groups: its first extent is a sixteenth.

    Raises:
        CompileFailed: a kernel holds something that is not emulated.
    """
    functions = Functions()
    sizes, kernels = list[str](), list[str]()
    for number, m in enumerate(_KERNELS.finditer(ll), start=1):
        function, size = _parsed(ll, m["name"])
        kernels.append(Kernel(function, size, analyse(function), functions).text(number))
        extents = ", ".join(f"i32 {extent}" for extent in emulated_sizes(size))
        sizes.append(f"!{number} = !{{{extents}}}")
    # One lane per sub-group: the original lanes are explicit.
    return "\n".join([*_HEADER.findall(ll), "", functions.text(), *kernels, "!0 = !{i32 1}", *sizes, ""])


def _parsed(ll: str, name: str) -> tuple[Function, tuple[int, ...]]:
    try:
        function = parse_kernel(ll, name)
    except SimulationRefused as refused:
        raise CompileFailed(STAGE, str(refused)) from refused
    if function.work_group_size is None:
        raise CompileFailed(STAGE, f"kernel {name} does not say its work-group size")
    if function.work_group_size[0] % LANES:
        raise CompileFailed(STAGE, f"kernel {name} has work-groups of {function.work_group_size}, no whole sub-groups")
    return function, function.work_group_size
