"""Parser of the LLVM IR text of one kernel."""

import re
from collections.abc import Iterator

from codegen.simulate.llvm_ir.global_parser import parse_globals
from codegen.simulate.llvm_ir.instruction_parser import (
    parse_instruction,
    parse_parameters,
)
from codegen.simulate.llvm_ir.ir import (
    Block,
    Function,
    Instruction,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.xe.nbarrier_intrinsics import NAMED_BARRIERS

_LABEL = re.compile(r"^([\w.$-]+):")
_METADATA = re.compile(r"(?:, ![\w.]+ ![\w.]+)+$")


def parse_kernel(text: str, name: str) -> Function:
    """Return the kernel `name` of a module's text.

    Raises:
        SimulationRefused: there is no such kernel, or it holds something that is not understood.
    """
    head = re.search(rf"^define [^\n]*@{re.escape(name)}\(([^\n]*)\) [^\n]*{{$", text, re.MULTILINE)
    if head is None:
        raise SimulationRefused("", f"no definition of kernel {name} in the module")
    end = text.find("\n}", head.end())
    parameters = parse_parameters(head[1])
    unnamed = sum(p.local.isdigit() for p in parameters)
    blocks = tuple(_blocks(text[head.end() : end].split("\n"), str(unnamed)))
    work_group_size = _required(text, head[0], "reqd_work_group_size")
    subgroup_size = _required(text, head[0], "intel_reqd_sub_group_size")
    barriers = _required(text, head[0], NAMED_BARRIERS)
    named = {o.symbol for b in blocks for i in (*b.phis, *b.body) for o in i.operands if o.symbol}
    size = subgroup_size[0] if subgroup_size else None
    globals_ = parse_globals(text, named)
    return Function(name, parameters, blocks, work_group_size, size, globals_, barriers[0] if barriers else None)


def _required(text: str, head: str, metadata: str) -> tuple[int, ...] | None:
    """Return the numbers of the metadata node that a kernel's head names."""
    named = re.search(rf"!{metadata} (!\d+)", head)
    node = re.search(rf"^{named[1]} = !{{(.*)}}$", text, re.MULTILINE) if named else None
    return tuple(int(part.split()[-1]) for part in node[1].split(",")) if node else None


def _blocks(lines: list[str], entry: str) -> Iterator[Block]:
    label, instructions = entry, list[Instruction]()
    joined = _join_switches(lines)
    for line in joined:
        code = line.split(" ; ")[0].rstrip() if "preds" in line else line.rstrip()
        if not code.strip() or code.lstrip().startswith(("#dbg", ";")):
            continue
        if (m := _LABEL.match(code)) is not None:
            if instructions:
                yield _block(label, instructions)
            label, instructions = m[1], []
            continue
        instructions.append(parse_instruction(_METADATA.sub("", code.strip())))
    yield _block(label, instructions)


def _join_switches(lines: list[str]) -> Iterator[str]:
    """Join the lines of a switch, whose cases LLVM prints over several lines."""
    pending = ""
    for line in lines:
        if pending:
            pending += " " + line.strip()
        elif line.strip().startswith("switch ") and "]" not in line:
            pending = line
        else:
            yield line
        if pending and line.strip() == "]":
            yield pending
            pending = ""


def _block(label: str, instructions: list[Instruction]) -> Block:
    phis = tuple(i for i in instructions if i.opcode == "phi")
    body = tuple(i for i in instructions if i.opcode != "phi")
    if not body or body[-1].opcode not in ("br", "switch", "ret", "unreachable"):
        raise SimulationRefused(body[-1].text if body else label, f"block {label} ends without br, switch or ret")
    return Block(label, phis, body)
