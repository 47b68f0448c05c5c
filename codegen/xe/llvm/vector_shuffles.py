"""Splitting of shuffles of wide vectors, and of bitcasts between vectors of different lengths."""

from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Number,
    Type,
)
from codegen.xe.llvm.vector_pieces import (
    Pieces,
    constant_text,
    is_wide,
    piece_name,
)


def split_shuffle(i: Instruction, pieces: Pieces) -> list[str]:
    """Return the lines of a shufflevector with wide operands or a wide result."""
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
    """Gather a narrow vector from elements of the two operands."""
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
    """Return the piece that holds an element of a shuffle, and its position there."""
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
    named = f"v{name}" if name.isdigit() else name  # numeric names take no suffix
    known = [(at, s) for at, s in enumerate(sources) if s is not None]
    for number, (at, (piece, part, place)) in enumerate(known):
        element = piece
        if part.count:
            element = f"%{named}.e{at}"
            out.append(f"{element} = extractelement {part} {piece}, i64 {place}")
        if not type_.count:
            if part.count:
                out[-1] = out[-1].replace(element, f"%{name}", 1)
            else:
                pieces.call(name, element)
            return out
        after = f"%{name}" if number == len(known) - 1 else f"%{named}.i{at}"
        out.append(f"{after} = insertelement {type_} {before}, {type_.scalar} {element}, i64 {at}")
        before = after
    return out


def split_bitcast(i: Instruction, pieces: Pieces) -> list[str]:
    """Split a bitcast piece by piece; a narrow vector on either side is split or joined."""
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
    """Join vectors of one type pairwise."""
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
