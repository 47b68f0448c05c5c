"""Shared local memory: one variable per kernel, with offsets in place of addresses.

Pointers into it are 32 bits wide for the GPU, 64 on a CPU: kernels that make them from integers need offsets. The same
in all lanes, such a pointer is an i64.
"""

from codegen.emulate.memory.private_memory import steps_of
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.rows import literal
from codegen.emulate.writer import SHARED, Writer, local
from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
    Operand,
)


def offsets_of(function: Function) -> tuple[dict[str, int], int]:
    """Return the offset of each variable, and the total size in bytes."""
    offsets: dict[str, int] = {}
    end = 0
    for variable in function.globals:
        if variable.space == SHARED:
            offsets[variable.name] = -(-end // variable.alignment) * variable.alignment
            end = offsets[variable.name] + variable.nbytes
    return offsets, end


def is_shared(i: Instruction) -> bool:
    """Return True if an instruction uses pointers to shared local memory."""
    return any(o.symbol or _points(o) for o in i.operands) or (i.type.element == "ptr" and i.type.space == SHARED)


def _points(o: Operand) -> bool:
    return o.type.element == "ptr" and o.type.space == SHARED


def shared_instruction(w: Writer, i: Instruction) -> None:
    """Write an instruction that is uniform, with offsets for pointers."""
    result = f"%{local(i.result)}"
    values = [w.scalar(o) for o in i.operands]
    types = ["i64" if _points(o) else str(o.type) for o in i.operands]
    if i.opcode == "load":
        w.do(f"{result} = load {i.type}, ptr addrspace(3) {_place(w, values[0])}{_alignment(i)}")
    elif i.opcode == "store":
        w.do(f"store {types[0]} {values[0]}, ptr addrspace(3) {_place(w, values[1])}{_alignment(i)}")
    elif i.opcode == "getelementptr":
        w.do(f"{result} = add i64 {_offset(w, i, values)}, 0")
    elif i.opcode in ("ptrtoint", "inttoptr"):
        _converted(w, i, values[0])
    elif i.opcode == "select":
        w.do(f"{result} = select i1 {values[0]}, {types[1]} {values[1]}, {types[2]} {values[2]}")
    elif i.opcode in ("icmp", "fcmp"):
        w.do(f"{result} = {i.opcode} {i.detail} {types[0]} {values[0]}, {values[1]}")
    elif len(values) == 2 and not i.type.parts:
        w.do(f"{result} = {i.opcode} {types[0]} {values[0]}, {values[1]}")
    else:
        raise not_emulated(f"{i.opcode} of a pointer to shared local memory", i.text)


def shared_phi(w: Writer, phi: Instruction, pairs: list[tuple[Operand, str]]) -> str:
    """The line of a phi of pointers."""
    values = ", ".join(f"[ {w.scalar(o)}, %{local(label)} ]" for o, label in pairs)
    return f"  %{local(phi.result)} = phi i64 {values}"


def offset_rows(w: Writer, i: Instruction) -> str:
    """The row of addresses that a getelementptr gives."""
    total = w.row(i.operands[0])
    for index, step in zip(i.operands[1:], steps_of(i), strict=True):
        if index.is_constant:
            moved = f"splat (i64 {int(index.constant[0] or 0) * step})"
        else:
            row, bits = w.row(index), index.type.dtype.itemsize * 8
            if bits < 64:
                row = w.line(f"sext <16 x i{bits}> {row} to <16 x i64>")
            moved = w.line(f"mul <16 x i64> {row}, splat (i64 {step})")
        total = w.line(f"add <16 x i64> {total}, {moved}")
    return total


def byte_offset(w: Writer, i: Instruction) -> str:
    """The bytes that a getelementptr adds, the same in all lanes, as an i64."""
    total = "0"
    for index, step in zip(i.operands[1:], steps_of(i), strict=True):
        if index.is_constant:
            moved = literal(int(index.constant[0] or 0) * step, index.type)
        else:
            value, bits = w.scalar(index), index.type.dtype.itemsize * 8
            value = w.line(f"sext i{bits} {value} to i64") if bits < 64 else value
            moved = w.line(f"mul i64 {value}, {step}")
        total = w.line(f"add i64 {total}, {moved}")
    return total


def _offset(w: Writer, i: Instruction, values: list[str]) -> str:
    return w.line(f"add i64 {values[0]}, {byte_offset(w, i)}")


def _converted(w: Writer, i: Instruction, value: str) -> None:
    source = 64 if i.opcode == "ptrtoint" else i.operands[0].type.dtype.itemsize * 8
    to = 64 if i.opcode == "inttoptr" else i.type.dtype.itemsize * 8
    way = f"add i64 {value}, 0"
    if source != to:
        way = f"{'trunc' if to < source else 'zext'} i{source} {value} to i{to}"
    w.do(f"%{local(i.result)} = {way}")


def _place(w: Writer, offset: str) -> str:
    return w.line(f"getelementptr i8, ptr addrspace(3) {w.shared}, i64 {offset}")


def _alignment(i: Instruction) -> str:
    _, found, alignment = i.text.partition(", align ")
    return f", align {alignment.split(',')[0].split(' ')[0]}" if found else ""
