"""Types and lines of LLVM IR for rows: the 16 lanes of one element of a value."""

import struct

import numpy as np

from codegen.simulate.llvm_ir.ir import (
    Number,
    Operand,
    Type,
)
from codegen.simulate.values import LANES

# What values are computed as: a pointer is its address.
_COMPUTED = {"ptr": "i64"}
# Memory has no truth values: they take a byte.
_KEPT = {"i1": "i8"}


def computed(element: str) -> str:
    """Return the type that an element is computed in."""
    return _COMPUTED.get(element, element)


def kept(element: str) -> str:
    """Return the type of an element in memory."""
    return _KEPT.get(element, computed(element))


def row_type(element: str) -> str:
    """Return the type of a row in registers."""
    return f"<{LANES} x {computed(element)}>"


def kept_row(element: str) -> str:
    """Return the type of a row in memory."""
    return f"<{LANES} x {kept(element)}>"


def literal(number: Number | None, type_: Type) -> str:
    """Return a number as LLVM writes it."""
    if number is None:
        return "poison"
    if type_.dtype.kind != "f":
        return str(int(number))
    if type_.element == "half":
        return f"0xH{int(np.float16(number).view(np.uint16)):04X}"
    return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"


def constant_row(operand: Operand, at: int) -> str:
    """Return a constant row with the same number in all lanes."""
    number = operand.constant[at if operand.type.count else 0]
    written = literal(number, operand.type)
    return "poison" if number is None else f"splat ({computed(operand.type.element)} {written})"


class Lines:
    """Lines of a function's body, and names for their results."""

    def __init__(self, prefix: str) -> None:
        self.lines: list[str] = []
        self._prefix, self._names = prefix, 0

    def name(self) -> str:
        """Return a new name."""
        self._names += 1
        return f"%{self._prefix}{self._names}"

    def line(self, text: str) -> str:
        """Add a line; return the name of its result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add a line without a result."""
        self.lines.append(f"  {text}")

    def splat(self, element: str, scalar: str) -> str:
        """Broadcast a value to all lanes."""
        row = row_type(element)
        one = self.line(f"insertelement {row} poison, {computed(element)} {scalar}, i64 0")
        return self.line(f"shufflevector {row} {one}, {row} poison, <{LANES} x i32> zeroinitializer")

    def load_row(self, element: str, pointer: str, at: int = 0) -> str:
        """Load row `at` of an array."""
        value = self.line(f"load {kept_row(element)}, ptr {self._at(element, pointer, at)}, align 16")
        return self.line(f"trunc {kept_row(element)} {value} to {row_type('i1')}") if element == "i1" else value

    def store_row(self, element: str, row: str, pointer: str, at: int = 0) -> None:
        """Store row `at` of an array."""
        if row == "poison":
            return
        if element == "i1":
            row = self.line(f"zext {row_type('i1')} {row} to {kept_row('i1')}")
        self.do(f"store {kept_row(element)} {row}, ptr {self._at(element, pointer, at)}, align 16")

    def _at(self, element: str, pointer: str, at: int) -> str:
        return self.line(f"getelementptr {kept_row(element)}, ptr {pointer}, i64 {at}") if at else pointer


class Functions:
    """Functions that a module needs: each text once, under a unique name."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def declare(self, symbol: str, text: str) -> None:
        """Declare an external function."""
        self.declarations[symbol] = text

    def define(self, name: str, text: str) -> str:
        """Define a function; return its name."""
        self._texts[name] = text
        return name

    def unnamed(self, what: str, form: str) -> str:
        """Return the name of the function whose text is `form` with a name for NAME."""
        if form not in self._names:
            name = f"xetune_emulated_{what}_{len(self._names)}"
            self._names[form] = self.define(name, form.replace("NAME", name))
        return self._names[form]

    def text(self) -> str:
        """All declarations and definitions."""
        return "\n".join([*self.declarations.values(), *self._texts.values()])
