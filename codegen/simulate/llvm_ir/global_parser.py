"""Parser of the variables of a module that a kernel names."""

import re

import numpy as np

from codegen.simulate.llvm_ir.cursor import Cursor
from codegen.simulate.llvm_ir.ir import (
    Global,
    Type,
)
from codegen.simulate.values import constant

_LINE = re.compile(r"^@(?P<name>[\w.$-]+) = (?P<rest>.*)$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})|(.)", re.DOTALL)


def parse_globals(text: str, names: set[str]) -> tuple[Global, ...]:
    """Return the variables of these names, in the module's order.

    Raises:
        SimulationRefused: one whose type or content is not understood.
    """
    return tuple(_global(m["name"], m[0]) for m in _LINE.finditer(text) if m["name"] in names)


def _global(name: str, line: str) -> Global:
    c = Cursor(line)
    space, external = 0, False
    c.next()
    c.expect("=")
    while (token := c.next()) not in ("global", "constant"):
        external = external or token == "external"
        if token == "addrspace":
            c.expect("(")
            space = int(c.next())
            c.expect(")")
    type_ = c.type()
    content = None if external or c.peek() in ("", ",") else _content(c, type_)
    alignment = type_.alignment
    while c.peek():
        if c.next() == "align":
            alignment = int(c.next())
    return Global(name, space, type_.nbytes, alignment, content)


def _content(c: Cursor, type_: Type) -> bytes | None:
    if c.accept("undef") or c.accept("poison"):
        return None
    if c.accept("zeroinitializer"):
        return bytes(type_.nbytes)
    if c.accept("c"):
        characters = _ESCAPE.findall(c.next()[1:-1])
        return bytes(int(code, 16) if code else ord(plain) for code, plain in characters)
    if type_.array:
        c.expect("[")
        parts = [_content(c, c.type())]
        while c.accept(","):
            parts.append(_content(c, c.type()))
        c.expect("]")
        return b"".join(part if part is not None else bytes([255] * type_.scalar.nbytes) for part in parts)
    if type_.parts:
        raise c.refuse("a structure with content")
    return np.ascontiguousarray(constant(c.value(type_))).tobytes()
