"""Instructions on values that differ between lanes: element after element, on vectors of 16 lanes."""

from collections.abc import Callable

from codegen.emulate.refusal import not_emulated
from codegen.emulate.writer import Writer, row_type
from codegen.simulator.ir import Instruction

Write = Callable[[Writer, Instruction], None]


def _each(form: Callable[[Instruction, list[str]], str]) -> Write:
    """One line for each element, from the rows of the operands."""

    def write(w: Writer, i: Instruction) -> None:
        if any(o.type.element == "bfloat" for o in i.operands) or i.type.element == "bfloat":
            raise not_emulated(f"{i.opcode} of bfloat", i.text)
        for at in range(i.type.count or 1):
            rows = [w.row(o, at if o.type.count else 0) for o in i.operands]
            w.put(i.result, i.type, at, w.line(form(i, rows)))

    return write


def _operand_row(i: Instruction, index: int = 0) -> str:
    return row_type(i.operands[index].type.element)


def _compare(i: Instruction, rows: list[str]) -> str:
    return f"{i.opcode} {i.detail} {_operand_row(i)} {rows[0]}, {rows[1]}"


def _select(i: Instruction, rows: list[str]) -> str:
    row = _operand_row(i, 1)
    return f"select {_operand_row(i)} {rows[0]}, {row} {rows[1]}, {row} {rows[2]}"


def _cast(i: Instruction, rows: list[str]) -> str:
    return f"{i.opcode} {_operand_row(i)} {rows[0]} to {row_type(i.type.element)}"


def _round_or_cast(w: Writer, i: Instruction) -> None:
    if i.type.element != "bfloat":
        _each(_cast)(w, i)
        return
    if i.operands[0].type.element != "float":
        raise not_emulated("rounding to bfloat of anything but float", i.text)
    for at in range(i.type.count or 1):
        w.put(i.result, i.type, at, _rounded_to_bfloat(w, w.row(i.operands[0], at)))


def _rounded_to_bfloat(w: Writer, value: str) -> str:
    """The upper half, rounded to nearest, ties to even; NaN stays a NaN."""
    wide, floats = row_type("i32"), row_type("float")
    bits = w.line(f"bitcast {floats} {value} to {wide}")
    upper = w.line(f"lshr {wide} {bits}, splat (i32 16)")
    odd = w.line(f"and {wide} {upper}, splat (i32 1)")
    up = w.line(f"add {wide} {bits}, splat (i32 {0x7FFF})")
    up = w.line(f"add {wide} {up}, {odd}")
    rounded = w.line(f"lshr {wide} {up}, splat (i32 16)")
    quiet = w.line(f"or {wide} {upper}, splat (i32 {0x40})")
    is_nan = w.line(f"fcmp uno {floats} {value}, {value}")
    chosen = w.line(f"select {row_type('i1')} {is_nan}, {wide} {quiet}, {wide} {rounded}")
    return w.line(f"trunc {wide} {chosen} to {row_type('i16')}")


def _widen_or_cast(w: Writer, i: Instruction) -> None:
    if i.operands[0].type.element != "bfloat":
        _each(_cast)(w, i)
        return
    for at in range(i.type.count or 1):
        wide = w.line(f"zext {row_type('i16')} {w.row(i.operands[0], at)} to {row_type('i32')}")
        up = w.line(f"shl {row_type('i32')} {wide}, splat (i32 16)")
        value = w.line(f"bitcast {row_type('i32')} {up} to {row_type('float')}")
        if i.type.element != "float":
            raise not_emulated("bfloat to anything but float", i.text)
        w.put(i.result, i.type, at, value)


def _bitcast(w: Writer, i: Instruction) -> None:
    if i.operands[0].type.dtype.itemsize != i.type.dtype.itemsize or "i1" in (
        i.type.element,
        i.operands[0].type.element,
    ):
        raise not_emulated("reinterpretation as elements of another size", i.text)
    w.alias(i.result, w.whole(i.operands[0]))


def _extract(w: Writer, i: Instruction) -> None:
    w.put(i.result, i.type, 0, w.row(i.operands[0], _constant_index(i, 1)))


def _insert(w: Writer, i: Instruction) -> None:
    index = _constant_index(i, 2)
    for at in range(i.type.count):
        w.put(i.result, i.type, at, w.row(i.operands[1], 0) if at == index else w.row(i.operands[0], at))


def _shuffle(w: Writer, i: Instruction) -> None:
    count = i.operands[0].type.count
    for at, source in enumerate(i.operands[2].constant):
        if source is not None:
            which, element = divmod(int(source), count)
            w.put(i.result, i.type, at, w.row(i.operands[which], element))


def _constant_index(i: Instruction, operand: int) -> int:
    constant = i.operands[operand].constant
    if not constant or constant[0] is None:
        raise not_emulated("an element whose place is not constant", i.text)
    return int(constant[0])


def _binary(i: Instruction, rows: list[str]) -> str:
    return f"{i.opcode} {row_type(i.type.element)} {rows[0]}, {rows[1]}"


def _unary(i: Instruction, rows: list[str]) -> str:
    return f"{i.opcode} {row_type(i.type.element)} {rows[0]}"


_BINARY = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
_FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")
_CASTS = ("trunc", "zext", "sext", "fptoui", "fptosi", "uitofp", "sitofp")

ELEMENTWISE: dict[str, Write] = {
    **dict.fromkeys((*_BINARY, *_FLOAT_BINARY), _each(_binary)),
    **dict.fromkeys(_CASTS, _each(_cast)),
    "fneg": _each(_unary),
    "freeze": _each(_unary),
    "icmp": _each(_compare),
    "fcmp": _each(_compare),
    "select": _each(_select),
    "fptrunc": _round_or_cast,
    "fpext": _widen_or_cast,
    "bitcast": _bitcast,
    "extractelement": _extract,
    "insertelement": _insert,
    "shufflevector": _shuffle,
}
