"""Splitting of instructions on wide vectors into instructions on pieces."""

import re
from collections.abc import Callable

from codegen.errors import CompileFailed
from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Operand,
)
from codegen.xe.llvm.private_memory import PRIVATE_ALIGNMENT
from codegen.xe.llvm.vector_pieces import (
    Pieces,
    is_wide,
    piece_name,
)
from codegen.xe.llvm.vector_shuffles import (
    split_bitcast,
    split_shuffle,
)

_HEAD = re.compile(r"(?:%[\w.$-]+ = )?(?P<head>[a-z][a-z ]*?) (?=[<%@]|i\d|ptr|float|half|double|spir_func)")
_INTRINSIC = re.compile(r"(?P<name>llvm\.[a-z.]+?)\.v\d+(?P<element>[a-z]+\d+)")
_ALIGNMENT = re.compile(r", align (\d+)")


def split_instruction(i: Instruction, pieces: Pieces) -> list[str]:
    """Return the lines that replace an instruction.

    Raises:
        CompileFailed: its use of a wide vector is not supported.
    """
    if (split := _SPLIT.get(i.opcode)) is not None:
        return split(i, pieces)
    count = pieces.count(i)
    head = _HEAD.match(i.text)
    if head is None or i.opcode not in _ELEMENTWISE:
        raise _refused(i)
    return [
        f"%{piece_name(i.result, n)} = {head['head']} {_ELEMENTWISE[i.opcode](i, pieces, count, n)}"
        for n in range(count)
    ]


def _refused(i: Instruction) -> CompileFailed:
    return CompileFailed("llvm", f"cannot split a wide vector used by {i.text[:120]}")


Operands = Callable[[Instruction, Pieces, int, int], str]


def _unary(i: Instruction, pieces: Pieces, count: int, n: int) -> str:
    return pieces.typed(i.operands[0], count, n)


def _binary(i: Instruction, pieces: Pieces, count: int, n: int) -> str:
    return f"{pieces.typed(i.operands[0], count, n)}, {pieces.value(i.operands[1], count, n)}"


def _cast(i: Instruction, pieces: Pieces, count: int, n: int) -> str:
    return f"{pieces.typed(i.operands[0], count, n)} to {pieces.type(i.type, count)}"


def _select(i: Instruction, pieces: Pieces, count: int, n: int) -> str:
    return ", ".join(pieces.typed(o, count, n) for o in i.operands)


def _phi(i: Instruction, pieces: Pieces, count: int, n: int) -> str:
    incoming = (f"[ {pieces.value(o, count, n)}, %{label} ]" for o, label in zip(i.operands, i.labels, strict=True))
    return f"{pieces.type(i.type, count)} {', '.join(incoming)}"


_BINARY = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
_CASTS = ("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp")
_ELEMENTWISE: dict[str, Operands] = {
    **dict.fromkeys((*_BINARY, "fadd", "fsub", "fmul", "fdiv", "frem", "icmp", "fcmp"), _binary),
    **dict.fromkeys(_CASTS, _cast),
    "fneg": _unary,
    "freeze": _unary,
    "select": _select,
    "phi": _phi,
}


def _load(i: Instruction, pieces: Pieces) -> list[str]:
    count, out = pieces.count(i), list[str]()
    part = pieces.type(i.type, count)
    for n in range(count):
        name = piece_name(i.result, n)
        out.append(_place(i, i.operands[0], name, n * part.nbytes))
        out.append(f"%{name} = load {part}, {i.operands[0].type} %{name}.p, {alignment(i, pieces, n * part.nbytes)}")
    return out


def _store(i: Instruction, pieces: Pieces) -> list[str]:
    value, pointer = i.operands
    count, out, name = pieces.count(i), list[str](), pieces.new_store()
    part = pieces.type(value.type, count)
    for n in range(count):
        out.append(_place(i, pointer, f"{name}.{n}", n * part.nbytes))
        typed = pieces.typed(value, count, n)
        out.append(f"store {typed}, {pointer.type} %{name}.{n}.p, {alignment(i, pieces, n * part.nbytes)}")
    return out


def _place(i: Instruction, pointer: Operand, name: str, offset: int) -> str:
    if not pointer.local:
        raise _refused(i)
    return f"%{name}.p = getelementptr inbounds i8, {pointer.type} %{pointer.local}, i64 {offset}"


def alignment(i: Instruction, pieces: Pieces, offset: int) -> str:
    """Return the alignment of the address `offset` bytes after that of a load or store."""
    said = _ALIGNMENT.search(i.text)
    start = PRIVATE_ALIGNMENT if i.operands[-1].local in pieces.aligned else int(said[1]) if said else 1
    return f"align {min(start, offset & -offset or start)}"


def _insertelement(i: Instruction, pieces: Pieces) -> list[str]:
    vector, element, place = i.operands
    if not place.is_constant:
        raise _refused(i)
    count = pieces.count(i)
    size = i.type.count // count
    target, at = divmod(int(place.constant[0] or 0), size)
    for n in range(count):
        if n != target or size == 1:
            pieces.call(piece_name(i.result, n), pieces.value(element if n == target else vector, count, n))
    if size == 1:
        return []
    whole = pieces.typed(vector, count, target)
    inserted = pieces.typed(element, count, target)
    return [f"%{piece_name(i.result, target)} = insertelement {whole}, {inserted}, i64 {at}"]


def _extractelement(i: Instruction, pieces: Pieces) -> list[str]:
    vector, place = i.operands
    if not place.is_constant:
        raise _refused(i)
    count = pieces.count(i)
    size = vector.type.count // count
    piece, at = divmod(int(place.constant[0] or 0), size)
    if size == 1:
        pieces.call(i.result, pieces.value(vector, count, piece))
        return []
    return [f"%{i.result} = extractelement {pieces.typed(vector, count, piece)}, i64 {at}"]


def _call(i: Instruction, pieces: Pieces) -> list[str]:
    """Split an intrinsic that works element by element."""
    m = _INTRINSIC.fullmatch(i.detail)
    if m is None or not is_wide(i.type) or any(is_wide(o.type) and o.type != i.type for o in i.operands):
        raise _refused(i)
    count = pieces.count(i)
    part = pieces.type(i.type, count)
    suffix = f"v{part.count}{m['element']}" if part.count else m["element"]
    flags = i.text.split(" call ")[1].split("<")[0].strip()
    types = ", ".join(str(pieces.type(o.type, count)) for o in i.operands)
    pieces.declarations.append(f"declare {part} @{m['name']}.{suffix}({types})")
    head = f"call {flags} {part}" if flags else f"call {part}"
    arguments = (", ".join(pieces.typed(o, count, n) for o in i.operands) for n in range(count))
    callee = f"@{m['name']}.{suffix}"
    return [f"%{piece_name(i.result, n)} = {head} {callee}({list_})" for n, list_ in enumerate(arguments)]


_SPLIT: dict[str, Callable[[Instruction, Pieces], list[str]]] = {
    "bitcast": split_bitcast,
    "load": _load,
    "store": _store,
    "insertelement": _insertelement,
    "extractelement": _extractelement,
    "shufflevector": split_shuffle,
    "call": _call,
}
