"""Size of the shared local memory of a kernel: the variables of that address space that it uses."""

import re

from codegen.errors import CompileFailed
from codegen.simulate.llvm_ir.global_parser import parse_globals

SHARED_LOCAL_MEMORY = 3


def shared_bytes(text: str, kernel: str) -> int:
    """Return the bytes of shared local memory of `kernel` in final LLVM IR.

    Raises:
        CompileFailed: stage llvm; no such kernel.
    """
    head = re.search(rf"^define [^\n]*@{re.escape(kernel)}\(", text, re.MULTILINE)
    if head is None:
        raise CompileFailed("llvm", f"no definition of kernel {kernel}")
    if f"addrspace({SHARED_LOCAL_MEMORY})" not in text:
        return 0
    names = set(re.findall(r"@([\w.$-]+)", text[head.end() : text.index("\n}", head.end())]))
    return sum(g.nbytes for g in parse_globals(text, names) if g.space == SHARED_LOCAL_MEMORY)
