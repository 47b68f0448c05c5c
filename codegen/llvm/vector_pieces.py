"""An instruction on wide vectors as instructions on pieces of them."""

import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.errors import CompileFailed
from codegen.llvm.private_memory import PRIVATE_ALIGNMENT
from codegen.simulate.ir import Instruction, Number, Operand, Type

# Numbers of elements that a vector of SPIR-V may have, and a scalar.
NARROW = (16, 8, 4, 3, 2, 1)
_HEAD = re.compile(r"(?:%[\w.$-]+ = )?(?P<head>[a-z][a-z ]*?) (?=[<%@]|i\d|ptr|float|half|bfloat|double|spir_func)")
_INTRINSIC = re.compile(r"(?P<name>llvm\.[a-z.]+?)\.v\d+(?P<element>[a-z]+\d+)")
_ALIGNMENT = re.compile(r", align (\d+)")


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements of a wide value one after the other, or a single one as a scalar (`count` 0)."""

    source: str
    first: int
    count: int


def is_wide(type_: Type) -> bool:
    """True for vectors with more elements than SPIR-V has."""
    return type_.count > NARROW[0] and not type_.array


def taken_slice(i: Instruction) -> Slice | None:
    """What a narrow value is of a wide one, None if it is not elements one after the other."""
    if i.opcode == "bitcast" and not is_wide(i.type):
        return Slice(i.operands[0].local, 0, i.operands[0].type.count) if i.operands[0].local else None
    if i.opcode == "extractelement" and i.operands[0].local and i.operands[1].is_constant:
        return Slice(i.operands[0].local, int(i.operands[1].constant[0] or 0), 0)
    if i.opcode != "shufflevector" or is_wide(i.type):
        return None
    mask, count = i.operands[2].constant, i.operands[0].type.count
    first = int(mask[0] or 0)
    source = i.operands[first // count].local
    if not source or None in mask or list(mask) != list(range(first, first + len(mask))):
        return None
    return Slice(source, first % count, len(mask)) if first % count + len(mask) <= count else None


def piece_name(name: str, piece: int) -> str:
    """The name of a piece of a wide value: a number alone would be no name."""
    return f"wide{name}.{piece}"


class Pieces:
    """Wide values by name and how many pieces each has. `aligned` are private arrays that start at 64 bytes.

    `same` are names that stand for other values, `declarations` functions that the pieces need.
    """

    def __init__(self, counts: Mapping[str, int], aligned: frozenset[str]) -> None:
        self._counts = counts
        self.aligned = aligned
        self.same: dict[str, str] = {}
        self.declarations: list[str] = []
        self._stores = 0

    def count(self, i: Instruction) -> int:
        """The number of pieces that an instruction works on."""
        for name in (i.result, *(o.local for o in i.operands)):
            if name in self._counts:
                return self._counts[name]
        wide = next(o.type for o in i.operands if is_wide(o.type))
        return next(n for n in range(2, wide.count + 1) if wide.count % n == 0 and wide.count // n in NARROW)

    def count_of(self, name: str) -> int:
        """The number of pieces of a wide value."""
        return self._counts[name]

    def new_store(self) -> str:
        """A name for the places of a store."""
        self._stores += 1
        return f"wide.store{self._stores}"

    def call(self, name: str, value: str) -> None:
        """Let a name stand for a value."""
        self.same[f"%{name}"] = value

    def meaning(self, name: str) -> str:
        """The value that a name stands for in the end."""
        while name in self.same:
            name = self.same[name]
        return name

    def type(self, type_: Type, count: int) -> Type:
        """The type of a piece; a narrow type as it is."""
        if not is_wide(type_):
            return type_
        elements = type_.count // count
        return Type(type_.element, elements if elements > 1 else 0, space=type_.space)

    def value(self, operand: Operand, count: int, piece: int) -> str:
        """A piece of an operand, without its type; a narrow operand as it is."""
        if operand.local:
            return f"%{piece_name(operand.local, piece)}" if is_wide(operand.type) else f"%{operand.local}"
        size = operand.type.count // count
        numbers = operand.constant[piece * size : (piece + 1) * size] if is_wide(operand.type) else operand.constant
        return constant_text(numbers, operand.type)

    def typed(self, operand: Operand, count: int, piece: int) -> str:
        """A piece of an operand, with its type."""
        return f"{self.type(operand.type, count)} {self.value(operand, count, piece)}"


def constant_text(numbers: tuple[Number | None, ...], type_: Type) -> str:
    """A scalar or vector constant as LLVM reads it."""
    if all(number is None for number in numbers):
        return "poison"
    if len(numbers) > 1 and all(_is_zero(number) for number in numbers):
        return "zeroinitializer"
    literals = ["poison" if number is None else _literal(number, type_) for number in numbers]
    return literals[0] if len(literals) == 1 else f"<{', '.join(f'{type_.element} {text}' for text in literals)}>"


def _is_zero(number: Number | None) -> bool:
    return number is not None and number == 0 and math.copysign(1, number) > 0


def _literal(number: Number, type_: Type) -> str:
    if type_.element == "i1":
        return "true" if number else "false"
    if type_.element == "half":
        return f"0xH{int(np.array(number, np.float16).view(np.uint16)):04X}"
    if type_.element == "bfloat":
        return f"0xR{int(number):04X}"
    if type_.dtype.kind == "f":
        value = float(np.float32(number)) if type_.element == "float" else float(number)
        return f"0x{struct.pack('>d', value).hex().upper()}"
    return str(int(number))


def split_instruction(i: Instruction, pieces: Pieces) -> list[str]:
    """The lines that take the place of an instruction.

    Raises:
        CompileFailed: it uses a wide vector in a way that is not known.
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
    """What a place `offset` bytes after that of a load or store is a multiple of."""
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


def _shufflevector(i: Instruction, pieces: Pieces) -> list[str]:
    mask = i.operands[2].constant
    if not is_wide(i.type):
        return _gathered(i, pieces, i.result, mask, i.type)
    count = pieces.count_of(i.result)
    size = i.type.count // count
    out: list[str] = []
    for n in range(count):
        out += _gathered(
            i, pieces, piece_name(i.result, n), mask[n * size : (n + 1) * size], pieces.type(i.type, count)
        )
    return out


def _gathered(i: Instruction, pieces: Pieces, name: str, mask: tuple[Number | None, ...], type_: Type) -> list[str]:
    """A narrow vector of elements of the two operands."""
    sources = [_source(i, pieces, None if at is None else int(at)) for at in mask]
    used = list(dict.fromkeys(s[0] for s in sources if s is not None))
    sizes = {s[1].count for s in sources if s is not None}
    if not used:
        pieces.call(name, "poison")
        return []
    if len(used) == 1 and [s and s[2] for s in sources] == list(range(max(1, *sizes))):
        pieces.call(name, used[0])
        return []
    if len(used) <= 2 and len(sizes) == 1 and 0 not in sizes and type_.count:
        part = next(s[1] for s in sources if s is not None)
        places = ("poison" if s is None else str(used.index(s[0]) * part.count + s[2]) for s in sources)
        second = used[1] if len(used) == 2 else "poison"
        indices = f"<{len(mask)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"
        return [f"%{name} = shufflevector {part} {used[0]}, {part} {second}, {indices}"]
    return _one_by_one(pieces, name, sources, type_)


def _source(i: Instruction, pieces: Pieces, at: int | None) -> tuple[str, Type, int] | None:
    """The piece that an element of a shuffle is in, and where."""
    if at is None:
        return None
    operand = i.operands[at // i.operands[0].type.count]
    place = at % operand.type.count
    if not operand.local and operand.constant[place] is None:
        return None
    if not is_wide(operand.type):
        return pieces.value(operand, 1, 0), operand.type, place
    if not operand.local:
        return constant_text((operand.constant[place],), operand.type), operand.type.scalar, 0
    count = pieces.count_of(operand.local)
    size = operand.type.count // count
    return pieces.value(operand, count, place // size), pieces.type(operand.type, count), place % size


def _one_by_one(pieces: Pieces, name: str, sources: list[tuple[str, Type, int] | None], type_: Type) -> list[str]:
    out, before = list[str](), "poison"
    known = [(at, s) for at, s in enumerate(sources) if s is not None]
    for number, (at, (piece, part, place)) in enumerate(known):
        element = piece
        if part.count:
            element = f"%{name}.e{at}"
            out.append(f"{element} = extractelement {part} {piece}, i64 {place}")
        if not type_.count:
            if part.count:
                out[-1] = out[-1].replace(element, f"%{name}", 1)
            else:
                pieces.call(name, element)
            return out
        after = f"%{name}" if number == len(known) - 1 else f"%{name}.i{at}"
        out.append(f"{after} = insertelement {type_} {before}, {type_.scalar} {element}, i64 {at}")
        before = after
    return out


def _bitcast(i: Instruction, pieces: Pieces) -> list[str]:
    """Piece by piece; a narrow vector on either side is taken apart or put together."""
    source, count = i.operands[0], pieces.count(i)
    before, after = (_part(t, count) for t in (source.type, i.type))
    out: list[str] = []
    parts: list[str] = []
    for n in range(count):
        part = f"{pieces.type(source.type, count)} {pieces.value(source, count, n)}"
        if not is_wide(source.type):
            indices = ", ".join(f"i32 {at}" for at in range(n * before.count, (n + 1) * before.count))
            mask = f"<{before.count} x i32> <{indices}>"
            out.append(f"%wide{i.result}.part{n} = shufflevector {part}, {source.type} poison, {mask}")
            part = f"{before} %wide{i.result}.part{n}"
        parts.append(f"%{piece_name(i.result, n)}")
        out.append(f"{parts[-1]} = bitcast {part} to {after}")
    if is_wide(i.type):
        return out
    return out + _joined(f"%{i.result}", parts, after)


def _part(type_: Type, count: int) -> Type:
    elements = type_.count // count
    return Type(type_.element, elements if elements > 1 else 0, space=type_.space)


def _joined(name: str, parts: list[str], type_: Type) -> list[str]:
    """Vectors of a type put together by twos."""
    out: list[str] = []
    while len(parts) > 1:
        mask = ", ".join(f"i32 {at}" for at in range(2 * type_.count))
        joined = [name if len(parts) == 2 else f"{parts[at]}.and" for at in range(0, len(parts), 2)]
        out += [
            f"{to} = shufflevector {type_} {a}, {type_} {b}, <{2 * type_.count} x i32> <{mask}>"
            for to, a, b in zip(joined, parts[::2], parts[1::2], strict=True)
        ]
        parts, type_ = joined, Type(type_.element, 2 * type_.count)
    return out


def _call(i: Instruction, pieces: Pieces) -> list[str]:
    """Intrinsics that work element by element have a narrow form."""
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
    "bitcast": _bitcast,
    "load": _load,
    "store": _store,
    "insertelement": _insertelement,
    "extractelement": _extractelement,
    "shufflevector": _shufflevector,
    "call": _call,
}
