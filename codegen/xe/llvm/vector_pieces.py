"""Wide vectors as narrow pieces: counts, names, types and values."""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Number,
    Operand,
    Type,
)

# Numbers of elements that a SPIR-V vector may have, and 1 for a scalar.
NARROW = (16, 8, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive elements of a wide value, or a single one as a scalar (`count` 0)."""

    source: str
    first: int
    count: int


def is_wide(type_: Type) -> bool:
    """True for vectors with more elements than SPIR-V allows."""
    return type_.count > NARROW[0] and not type_.array


def taken_slice(i: Instruction) -> Slice | None:
    """Return the slice of a wide value that a narrow one is; None if its elements are not consecutive."""
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
    """Return the name of a piece of a wide value; a number alone is not a valid name."""
    return f"wide{name}.{piece}"


class Pieces:
    """Wide values by name, and the number of pieces of each. `aligned` are private arrays aligned to 64 bytes.

    `same` are aliases of other values, `declarations` functions that the pieces need.
    """

    def __init__(self, counts: Mapping[str, int], aligned: frozenset[str]) -> None:
        self._counts = counts
        self.aligned = aligned
        self.same: dict[str, str] = {}
        self.declarations: list[str] = []
        self._stores = 0

    def count(self, i: Instruction) -> int:
        """Return the number of pieces that an instruction works on."""
        for name in (i.result, *(o.local for o in i.operands)):
            if name in self._counts:
                return self._counts[name]
        wide = next(o.type for o in i.operands if is_wide(o.type))
        return next(n for n in range(2, wide.count + 1) if wide.count % n == 0 and wide.count // n in NARROW)

    def count_of(self, name: str) -> int:
        """Return the number of pieces of a wide value."""
        return self._counts[name]

    def new_store(self) -> str:
        """Return a new name for the pointers of a store."""
        self._stores += 1
        return f"wide.store{self._stores}"

    def call(self, name: str, value: str) -> None:
        """Make a name an alias of a value."""
        self.same[f"%{name}"] = value

    def meaning(self, name: str) -> str:
        """Return the value that a name resolves to."""
        while name in self.same:
            name = self.same[name]
        return name

    def type(self, type_: Type, count: int) -> Type:
        """Return the type of a piece; narrow types are unchanged."""
        if not is_wide(type_):
            return type_
        elements = type_.count // count
        return Type(type_.element, elements if elements > 1 else 0, space=type_.space)

    def value(self, operand: Operand, count: int, piece: int) -> str:
        """Return a piece of an operand, without its type; narrow operands are unchanged."""
        if operand.local:
            return f"%{piece_name(operand.local, piece)}" if is_wide(operand.type) else f"%{operand.local}"
        size = operand.type.count // count
        numbers = operand.constant[piece * size : (piece + 1) * size] if is_wide(operand.type) else operand.constant
        return constant_text(numbers, operand.type)

    def typed(self, operand: Operand, count: int, piece: int) -> str:
        """Return a piece of an operand, with its type."""
        return f"{self.type(operand.type, count)} {self.value(operand, count, piece)}"


def constant_text(numbers: tuple[Number | None, ...], type_: Type) -> str:
    """Return a scalar or vector constant in LLVM syntax."""
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
    if type_.dtype.kind == "f":
        value = float(np.float32(number)) if type_.element == "float" else float(number)
        return f"0x{struct.pack('>d', value).hex().upper()}"
    return str(int(number))
