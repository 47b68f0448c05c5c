"""A cursor over the tokens of one line of LLVM IR: types, values, names."""

import re
import struct

import numpy as np

from codegen.simulate.llvm_ir.ir import (
    ELEMENTS,
    Number,
    Operand,
    Type,
    address_offset,
)
from codegen.simulate.refusal import SimulationRefused

_TOKEN = re.compile(r"\"[^\"]*\"|[%@][\w.$-]+|![\w.]*|#\d+|[\w.+-]+|[<>\[\](){},=*]")

# Promises of the compiler. Ignoring them gives a defined value where LLVM would allow any.
_FLAGS = frozenset(
    (
        *("nuw", "nsw", "nusw", "exact", "disjoint", "nneg", "samesign", "inbounds", "volatile", "weak"),
        *("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"),
    )
)
_UNDEFINED = frozenset(("poison", "undef"))
_ADDRESS_CASTS = frozenset(("inttoptr", "ptrtoint", "addrspacecast", "bitcast"))
_EXPRESSIONS = _ADDRESS_CASTS | {"getelementptr", "add", "sub"}
_NOT_ATTRIBUTES = (
    _UNDEFINED | ELEMENTS | _EXPRESSIONS | {"true", "false", "null", "zeroinitializer", "splat", "void", "c"}
)


class Cursor:
    """Cursor in a line of LLVM IR. Every method that reads advances it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens: list[str] = _TOKEN.findall(text)
        self._at = 0

    def operands(self) -> tuple[Operand, ...]:
        """Read typed values, separated by commas."""
        out = [self.operand()]
        while self.accept(","):
            out.append(self.operand())
        return tuple(out)

    def operand(self) -> Operand:
        """Read a type and its value."""
        type_ = self.type()
        self.skip_attributes()
        return self.value(type_)

    def type(self) -> Type:
        """Read a type."""
        token = self.next()
        if token == "{" or (token == "<" and self.peek() == "{"):
            return self._structure(packed=token == "<")
        if token in ("<", "["):
            count = int(self.next())
            self.expect("x")
            element = self.type()
            self.expect(">" if token == "<" else "]")
            if element.count or element.parts:
                return Type("array", count, array=True, parts=(element,))
            return Type(element.element, count, token == "[", element.space)
        if token not in ELEMENTS:
            raise self.refuse(f"type {token} is not known")
        if token == "ptr" and self.accept("addrspace"):
            self.expect("(")
            space = int(self.next())
            self.expect(")")
            return Type("ptr", space=space)
        return Type(token)

    def _structure(self, packed: bool) -> Type:
        if packed:
            self.expect("{")
        parts = [self.type()]
        while self.accept(","):
            parts.append(self.type())
        self.expect("}")
        if packed:
            self.expect(">")
        return Type("struct", parts=tuple(parts), packed=packed)

    def value(self, type_: Type) -> Operand:
        """Read a value of a known type."""
        token = self.next()
        if token.startswith("%"):
            return Operand(type_, token[1:])
        if token.startswith("@"):
            return Operand(type_, constant=(0,), symbol=token[1:])
        if token in _EXPRESSIONS:
            return self._expression(token, type_)
        count = type_.count or 1
        if token in _UNDEFINED:
            return Operand(type_, constant=(None,) * count)
        if token in ("zeroinitializer", "null"):
            return Operand(type_, constant=(0,) * count)
        if token == "splat":
            self.expect("(")
            value = self.operand().constant
            self.expect(")")
            return Operand(type_, constant=value * count)
        if token == "<":
            parts = self.operands()
            self.expect(">")
            if not all(p.is_constant for p in parts):
                raise self.refuse("a vector constant with parts that are not constants")
            return Operand(type_, constant=tuple(p.constant[0] for p in parts))
        return Operand(type_, constant=(self._number(token, type_.element),))

    def _expression(self, opcode: str, type_: Type) -> Operand:
        """Read a constant that is an address plus a number of bytes."""
        self.flags()
        self.expect("(")
        if opcode == "getelementptr":
            pointee = self.type()
            self.expect(",")
        else:
            pointee = Type("i8")
        base, *rest = self.operands() if opcode not in _ADDRESS_CASTS else (self.operand(),)
        if opcode in _ADDRESS_CASTS:
            self.expect("to")
            self.type()
        self.expect(")")
        if base.local or not all(o.is_constant and o.constant[0] is not None for o in rest):
            raise self.refuse(f"the constant {opcode} is more than an address and a number")
        offset = address_offset(pointee, [int(o.constant[0] or 0) for o in rest]) if rest else 0
        start = int(base.constant[0] or 0)
        return Operand(type_, constant=(start - offset if opcode == "sub" else start + offset,), symbol=base.symbol)

    def _number(self, token: str, element: str) -> Number:
        if token in ("true", "false"):
            return int(token == "true")
        try:
            if element in ("half", "float", "double"):
                return _float(token)
            return int(token)
        except ValueError:
            raise self.refuse(f"constant {token} of type {element} is not understood") from None

    def skip_attributes(self) -> None:
        """Skip words such as `nonnull` or `align 8` between a type and its value."""
        while (token := self.peek())[:1].islower() and token not in _NOT_ATTRIBUTES:
            self.next()
            if token == "align":
                self.next()
            elif self.accept("("):
                depth = 1  # initializes((0, 4))
                while depth:
                    inner = self.next()
                    depth += (inner == "(") - (inner == ")")

    def flags(self) -> None:
        """Skip flags such as nsw."""
        while self.peek() in _FLAGS:
            self.next()

    def local(self) -> str:
        """Read the name of a local value, without its %."""
        token = self.next()
        if not token.startswith("%"):
            raise self.refuse(f"expected a local name, got {token}")
        return token[1:]

    def peek(self, ahead: int = 0) -> str:
        """Return the next token without reading it, empty at the end."""
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def next(self) -> str:
        """Read the next token."""
        token = self.peek()
        if not token:
            raise self.refuse("the line ends too early")
        self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Read the token if it is next; return whether it was."""
        if self.peek() != token:
            return False
        self._at += 1
        return True

    def expect(self, token: str) -> None:
        """Read the token, which must be next."""
        if not self.accept(token):
            raise self.refuse(f"expected {token!r}, got {self.peek()!r}")

    def refuse(self, message: str) -> SimulationRefused:
        """Return the refusal of this line."""
        return SimulationRefused(self.text, message)


def _float(token: str) -> float:
    """Decode a float: without an exact short decimal, LLVM prints the bits of a double, or of a half."""
    if token.startswith("0xH"):
        return float(np.array(int(token[3:], 16), np.uint16).view(np.float16))
    if token.startswith("0x"):
        return struct.unpack(">d", int(token, 16).to_bytes(8, "big"))[0]
    return float(token)
