"""Parser of one LLVM IR instruction."""

from collections.abc import Callable

from codegen.simulate.llvm_ir.cursor import Cursor
from codegen.simulate.llvm_ir.ir import (
    VOID,
    Instruction,
    Operand,
    Type,
)

_INTEGER = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
_BINARY = frozenset((*_INTEGER, "fadd", "fsub", "fmul", "fdiv", "frem"))
_INTEGER_CASTS = ("trunc", "zext", "sext", "ptrtoint", "inttoptr", "bitcast", "addrspacecast")
_CASTS = frozenset((*_INTEGER_CASTS, "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"))
_CALL_PREFIX = frozenset(("tail", "notail", "musttail"))


def parse_parameters(text: str) -> tuple[Operand, ...]:
    """Parse the parameters of a definition."""
    c = Cursor(text)
    out: list[Operand] = []
    while c.peek():
        type_ = c.type()
        c.skip_attributes()
        out.append(Operand(type_, c.local()))
        c.accept(",")
    return tuple(out)


def parse_instruction(text: str) -> Instruction:
    """Parse one line as an instruction.

    Raises:
        SimulationRefused: an opcode, type or constant that is not understood.
    """
    c = Cursor(text)
    result = ""
    if c.peek(1) == "=":
        result = c.local()
        c.expect("=")
    opcode = c.next()
    while opcode in _CALL_PREFIX:
        opcode = c.next()
    if opcode in _BINARY:
        return _binary(c, opcode, result)
    if opcode in _CASTS:
        return _cast(c, opcode, result)
    read = _READERS.get(opcode)
    if read is None:
        raise c.refuse(f"instruction {opcode} is not known")
    return read(c, result)


def _binary(c: Cursor, opcode: str, result: str) -> Instruction:
    c.flags()
    left = c.operand()
    c.expect(",")
    return _made(c, opcode, result, left.type, (left, c.value(left.type)))


def _cast(c: Cursor, opcode: str, result: str) -> Instruction:
    c.flags()
    value = c.operand()
    c.expect("to")
    return _made(c, opcode, result, c.type(), (value,))


def _fneg(c: Cursor, result: str) -> Instruction:
    c.flags()
    value = c.operand()
    return _made(c, "fneg", result, value.type, (value,))


def _freeze(c: Cursor, result: str) -> Instruction:
    value = c.operand()
    return _made(c, "freeze", result, value.type, (value,))


def _icmp(c: Cursor, result: str, opcode: str = "icmp") -> Instruction:
    c.flags()
    predicate = c.next()
    left = c.operand()
    c.expect(",")
    type_ = Type("i1", left.type.count)
    return _made(c, opcode, result, type_, (left, c.value(left.type)), detail=predicate)


def _fcmp(c: Cursor, result: str) -> Instruction:
    return _icmp(c, result, "fcmp")


def _select(c: Cursor, result: str) -> Instruction:
    c.flags()
    operands = c.operands()
    return _made(c, "select", result, operands[1].type, operands)


def _extractelement(c: Cursor, result: str) -> Instruction:
    operands = c.operands()
    return _made(c, "extractelement", result, operands[0].type.scalar, operands)


def _insertelement(c: Cursor, result: str) -> Instruction:
    operands = c.operands()
    return _made(c, "insertelement", result, operands[0].type, operands)


def _shufflevector(c: Cursor, result: str) -> Instruction:
    operands = c.operands()
    type_ = Type(operands[0].type.element, operands[2].type.count)
    return _made(c, "shufflevector", result, type_, operands)


def _phi(c: Cursor, result: str) -> Instruction:
    c.flags()
    type_ = c.type()
    values: list[Operand] = []
    labels: list[str] = []
    while True:
        c.expect("[")
        values.append(c.value(type_))
        c.expect(",")
        labels.append(c.local())
        c.expect("]")
        if not c.accept(","):
            return _made(c, "phi", result, type_, tuple(values), labels=tuple(labels))


def _br(c: Cursor, result: str) -> Instruction:
    if c.accept("label"):
        return _made(c, "br", result, VOID, (), labels=(c.local(),))
    condition = c.operand()
    labels: list[str] = []
    while c.accept(","):
        c.expect("label")
        labels.append(c.local())
    return _made(c, "br", result, VOID, (condition,), labels=tuple(labels))


def _switch(c: Cursor, result: str) -> Instruction:
    operands = [c.operand()]
    c.expect(",")
    c.expect("label")
    labels = [c.local()]
    c.expect("[")
    while not c.accept("]"):
        operands.append(c.operand())
        c.expect(",")
        c.expect("label")
        labels.append(c.local())
    return _made(c, "switch", result, VOID, tuple(operands), labels=tuple(labels))


def _ret(c: Cursor, result: str) -> Instruction:
    c.expect("void")
    return _made(c, "ret", result, VOID, ())


def _alloca(c: Cursor, result: str) -> Instruction:
    pointee = c.type()
    if c.accept(",") and c.peek() not in ("align", "addrspace"):
        count = c.operand()
        if not count.is_constant or pointee.parts:
            raise c.refuse("private memory of a size known only at run time")
        pointee = Type(pointee.element, (pointee.count or 1) * int(count.constant[0] or 0), array=True)
    return _made(c, "alloca", result, Type("ptr"), (), pointee=pointee)


def _getelementptr(c: Cursor, result: str) -> Instruction:
    c.flags()
    pointee = c.type()
    c.expect(",")
    operands = c.operands()
    return _made(c, "getelementptr", result, operands[0].type, operands, pointee=pointee)


def _load(c: Cursor, result: str) -> Instruction:
    _memory_flags(c)
    type_ = c.type()
    c.expect(",")
    return _made(c, "load", result, type_, (c.operand(),))


def _store(c: Cursor, result: str) -> Instruction:
    _memory_flags(c)
    value = c.operand()
    c.expect(",")
    return _made(c, "store", result, VOID, (value, c.operand()))


def _memory_flags(c: Cursor) -> None:
    """Skip `atomic` and `volatile`: one instruction of a sub-group is one access here."""
    while c.accept("atomic") or c.accept("volatile"):
        pass


def _atomicrmw(c: Cursor, result: str) -> Instruction:
    c.flags()
    operation = c.next()
    pointer = c.operand()
    c.expect(",")
    value = c.operand()
    return _made(c, "atomicrmw", result, value.type, (pointer, value), detail=operation)


def _cmpxchg(c: Cursor, result: str) -> Instruction:
    c.flags()
    operands = c.operands()
    type_ = Type("struct", parts=(operands[1].type, Type("i1")))
    return _made(c, "cmpxchg", result, type_, operands)


def _extractvalue(c: Cursor, result: str) -> Instruction:
    whole = c.operand()
    c.expect(",")
    part = c.next()
    if not part.isdigit() or int(part) >= len(whole.type.parts) or c.peek() == ",":
        raise c.refuse("expected one number of a part")
    return _made(c, "extractvalue", result, whole.type.parts[int(part)], (whole,), detail=part)


def _fence(c: Cursor, result: str) -> Instruction:
    return _made(c, "fence", result, VOID, ())


def _unreachable(c: Cursor, result: str) -> Instruction:
    return _made(c, "unreachable", result, VOID, ())


def _call(c: Cursor, result: str) -> Instruction:
    c.flags()
    c.accept("spir_func")
    c.skip_attributes()
    type_ = VOID if c.accept("void") else c.type()
    callee = c.next()
    if not callee.startswith("@"):
        raise c.refuse("call of something that is not a function's name")
    c.expect("(")
    operands = () if c.accept(")") else c.operands()
    return _made(c, "call", result, type_, operands, detail=callee[1:])


def _made(
    c: Cursor,
    opcode: str,
    result: str,
    type_: Type,
    operands: tuple[Operand, ...],
    detail: str = "",
    pointee: Type = VOID,
    labels: tuple[str, ...] = (),
) -> Instruction:
    return Instruction(opcode, c.text, result, type_, operands, detail, pointee, labels)


_READERS: dict[str, Callable[[Cursor, str], Instruction]] = {
    "fneg": _fneg,
    "freeze": _freeze,
    "icmp": _icmp,
    "fcmp": _fcmp,
    "select": _select,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "phi": _phi,
    "br": _br,
    "switch": _switch,
    "ret": _ret,
    "alloca": _alloca,
    "getelementptr": _getelementptr,
    "load": _load,
    "store": _store,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "extractvalue": _extractvalue,
    "fence": _fence,
    "unreachable": _unreachable,
    "call": _call,
}
