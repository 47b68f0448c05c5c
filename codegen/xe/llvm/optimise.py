"""Optimisation of MLIR's LLVM IR to the final LLVM IR text of its kernels."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import llvmlite.binding as llvm

from codegen.artifact.signature import (
    KernelArgument,
    Parameter,
)
from codegen.xe.llvm.bit_reversal import expand_bit_reversals
from codegen.xe.llvm.bit_truncation import expand_bit_truncations
from codegen.xe.llvm.cache_hints import separate_cache_hints
from codegen.xe.llvm.compounds import expand_compounds
from codegen.xe.llvm.float_syntax import in_older_syntax
from codegen.xe.llvm.parameters import (
    drop_apart,
    drop_extents,
    keep_used_parameters,
    name_parameters,
    state_apart,
    state_extents,
)
from codegen.xe.llvm.payloads import (
    Prefetches,
    reuse_payloads,
)
from codegen.xe.llvm.private_memory import align_private_memory
from codegen.xe.llvm.single_elements import take_single_elements
from codegen.xe.llvm.wide_integers import take_parts_as_vectors
from codegen.xe.llvm.wide_vectors import split_wide_vectors
from codegen.xe.nbarrier_intrinsics import NAMED_BARRIERS
from codegen.xe.spirv import (
    TRIPLE,
    target_machine,
)
from codegen.xe.subgroup import subgroup_size

# Above this many lines, O2 takes about 1.5 times as long as O1, mostly in InstCombine and global value numbering.
# Intel's compiler optimises again and generates the same K loops for both. Bytes would also count the numbers of
# hints, which depend on what the process compiled before.
_O2_LINES = 2_000
_NEVER_TAKEN = "loop-vectorize,loop-load-elim"
"""Passes that change no kernel, but compare the addresses of all accesses of a loop, each with each."""
_SUBGROUP_SIZE = re.compile(r" !intel_reqd_sub_group_size !\d+")
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_KERNEL = re.compile(r"(define spir_kernel .*) {$", re.MULTILINE)

llvm.set_option("", f"-opt-disable={_NEVER_TAKEN}")  # of the process: kernels of CPUs have no such passes


@dataclass(frozen=True, slots=True)
class OptimisedModule:
    """Final LLVM IR, and the parameters of each kernel by name."""

    text: str
    parameters: dict[str, tuple[Parameter, ...]]


def optimise(
    code: str,
    kernels: Mapping[str, Sequence[KernelArgument]],
    prefetches: Prefetches = Prefetches.PORTABLE,
    named_barriers: Mapping[str, int] = MappingProxyType({}),
    apart: Collection[str] = (),
    extents: Collection[str] = (),
) -> OptimisedModule:
    """Optimise MLIR's LLVM IR, keep only parameters that `kernels` (arguments by name) use, and legalise for SPIR-V.

    Uses O2, and O1 for large modules. `named_barriers` are the numbers that kernels allocate, kept as metadata.
    `apart` are kernels whose arguments do not alias; of others LLVM compares the addresses of all accesses of a loop.
    `extents` are kernels whose scalars m, n and k are from 1 to MAX_DIMENSION.

    Raises:
        CompileFailed: the IR does not have the form that these steps expect.
    """
    _fix_order_of_metadata()
    code = in_older_syntax(code)
    for kernel in apart:
        code = state_apart(code, kernel)
    for kernel in extents:
        code = state_extents(code, kernel, kernels[kernel])
    module = llvm.parse_assembly(code)
    module.name = ""
    machine = _machine()
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    _keep_together(module)
    level = 2 if code.count("\n") <= _O2_LINES else 1
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
    passes.getModulePassManager().run(module, passes)
    for kernel, arguments in kernels.items():
        name_parameters(module.get_function(kernel), arguments)
    text, parameters = _with_subgroup_size(expand_compounds(str(module))), dict[str, tuple[Parameter, ...]]()
    for kernel in apart:
        text = drop_apart(text, kernel)
    for kernel in extents:
        text = drop_extents(text, kernel)
    for kernel, count in named_barriers.items():
        text = _with_named_barriers(text, kernel, count)
    for kernel, arguments in kernels.items():
        text, parameters[kernel] = keep_used_parameters(text, kernel, arguments)
    text = take_parts_as_vectors(expand_bit_truncations(expand_bit_reversals(text)))
    text = separate_cache_hints(take_single_elements(split_wide_vectors(align_private_memory(text))))
    return OptimisedModule(reuse_payloads(text) if prefetches is Prefetches.PAYLOADS else text, parameters)


@cache
def _machine() -> llvm.TargetMachine:
    """Return a machine that describes the target to LLVM's optimisations; it emits nothing."""
    return target_machine()


@cache
def _fix_order_of_metadata() -> None:
    """Make LLVM number a kernel's metadata alike in all processes: in the order in which it first met their kinds."""
    kinds = ("reqd_work_group_size", "intel_reqd_sub_group_size")
    llvm.parse_assembly(f"declare {' '.join(f'!{kind} !0' for kind in kinds)} void @f()\n!0 = !{{}}")


def _with_subgroup_size(text: str) -> str:
    """Return the module with its sub-group size on every kernel: MLIR states 16, and that not on all of them."""
    node = 1 + max(map(int, _NODE.findall(text, text.rfind("\n}\n"))), default=-1)  # they are behind all functions
    text = _SUBGROUP_SIZE.sub("", text)
    text = _KERNEL.sub(rf"\1 !intel_reqd_sub_group_size !{node} {{", text)
    return f"{text}\n!{node} = !{{i32 {subgroup_size()}}}\n"


def _with_named_barriers(text: str, kernel: str, count: int) -> str:
    node = 1 + max(map(int, _NODE.findall(text)))
    head = re.compile(rf"^(define spir_kernel [^\n]*@{re.escape(kernel)}\(.*) {{$", re.MULTILINE)
    text = head.sub(rf"\1 !{NAMED_BARRIERS} !{node} {{", text)
    return f"{text}!{node} = !{{i32 {count}}}\n"


def _keep_together(module: llvm.ModuleRef) -> None:
    """Mark functions of a whole sub-group or work-group convergent, so that they are not moved into divergent code."""
    for function in module.functions:
        if function.is_declaration and ("sub_group" in function.name or "barrier" in function.name):
            function.add_function_attribute("convergent")
