"""Instructions on rows: element-wise forms for values that differ between lanes."""

from collections.abc import Callable

from codegen.emulate.rows.rows import Functions, Lines, row_type
from codegen.simulate.llvm_ir.ir import Instruction

# Adds lines that compute the row of a result from those of the operands.
Form = Callable[[Lines, Functions, Instruction, list[str]], str]


def _operand_row(i: Instruction, index: int = 0) -> str:
    return row_type(i.operands[index].type.element)


def _compare(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    return w.line(f"{i.opcode} {i.detail} {_operand_row(i)} {rows[0]}, {rows[1]}")


def _select(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    row = _operand_row(i, 1)
    return w.line(f"select {_operand_row(i)} {rows[0]}, {row} {rows[1]}, {row} {rows[2]}")


def _cast(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    return w.line(f"{i.opcode} {_operand_row(i)} {rows[0]} to {row_type(i.type.element)}")


def _binary(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    return w.line(f"{i.opcode} {row_type(i.type.element)} {rows[0]}, {rows[1]}")


def _divide(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    """Divide with safe divisors: inactive lanes may hold zeros, by which the CPU must not divide."""
    row = row_type(i.type.element)
    if i.operands[1].is_constant:
        return _binary(w, f, i, rows)
    zero = w.line(f"icmp eq {row} {rows[1]}, zeroinitializer")
    safe = w.line(f"select {row_type('i1')} {zero}, {row} splat ({i.type.element} 1), {row} {rows[1]}")
    return w.line(f"{i.opcode} {row} {rows[0]}, {safe}")


def _negate(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    return w.line(f"fneg {row_type(i.type.element)} {rows[0]}")


def _same(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    return rows[0]


def _address(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    """Convert between pointers, which are addresses of 64 bits, and integers."""
    source = 64 if i.opcode == "ptrtoint" else i.operands[0].type.dtype.itemsize * 8
    to = 64 if i.opcode == "inttoptr" else i.type.dtype.itemsize * 8
    if source == to:
        return rows[0]
    return w.line(f"{'trunc' if to < source else 'zext'} <16 x i{source}> {rows[0]} to <16 x i{to}>")


def rounded(w: Lines, value: str) -> str:
    """Round a row of floats to the bits of bf16: to nearest, ties to even; NaN stays a NaN."""
    wide, floats = row_type("i32"), row_type("float")
    bits = w.line(f"bitcast {floats} {value} to {wide}")
    upper = w.line(f"lshr {wide} {bits}, splat (i32 16)")
    odd = w.line(f"and {wide} {upper}, splat (i32 1)")
    up = w.line(f"add {wide} {bits}, splat (i32 {0x7FFF})")
    up = w.line(f"add {wide} {up}, {odd}")
    nearest = w.line(f"lshr {wide} {up}, splat (i32 16)")
    quiet = w.line(f"or {wide} {upper}, splat (i32 {0x40})")
    is_nan = w.line(f"fcmp uno {floats} {value}, {value}")
    chosen = w.line(f"select {row_type('i1')} {is_nan}, {wide} {quiet}, {wide} {nearest}")
    return w.line(f"trunc {wide} {chosen} to {row_type('i16')}")


def widened(w: Lines, bits: str) -> str:
    """Convert a row of bits of bf16 to floats."""
    wide = w.line(f"zext {row_type('i16')} {bits} to {row_type('i32')}")
    up = w.line(f"shl {row_type('i32')} {wide}, splat (i32 16)")
    return w.line(f"bitcast {row_type('i32')} {up} to {row_type('float')}")


_INTEGER_BINARY = ("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor")
_FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")

FORMS: dict[str, Form] = {
    **dict.fromkeys((*_INTEGER_BINARY, *_FLOAT_BINARY), _binary),
    **dict.fromkeys(("udiv", "sdiv", "urem", "srem"), _divide),
    **dict.fromkeys(("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"), _cast),
    **dict.fromkeys(("ptrtoint", "inttoptr"), _address),
    "fneg": _negate,
    "freeze": _same,
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
}
