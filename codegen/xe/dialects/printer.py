"""A fast printer of modules with aliases for long attributes; texts of attributes and operations are cached."""

# pyright: reportPrivateUsage=false
# xDSL's public view of operands is an object of its own for each access.

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from math import isfinite, isnan
from operator import attrgetter
from typing import TypeGuard

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    RankedStructure,
    UnregisteredOp,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from codegen.xe.dialects.literals import bytes_of, is_splat
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile.tile_attr import TileAttr

_ALIAS: dict[type[Attribute], str] = {TileAttr: "tile", WgMap: "wg_map"}
_type_of = attrgetter("_type")
_MARK = "\0"  # around the number of an operand, in the text of a form

_Form = tuple[str, Sequence[tuple[int, str]]]
"""The text of an operation behind its results: until the first operand, then each operand's number and what follows."""

_Key = tuple[object, ...]
_KEPT_FORMS = 4096
_FORMS: dict[_Key, tuple[_Form, object]] = {}
"""Forms of operations with the same attributes and types, by their ids, which the second part keeps alive."""


@dataclass(eq=False, repr=False)
class ModulePrinter(Printer):
    """Printer of whole modules; `aliases` must be printed before the module. No diagnostics."""

    aliases: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    _texts: dict[int, tuple[Attribute, str]] = field(default_factory=dict[int, tuple[Attribute, str]])
    _names: dict[int, str] = field(default_factory=dict[int, str])  # by id: the module keeps the values alive
    _forms: dict[_Key, tuple[_Form, object]] = field(default_factory=dict[_Key, tuple[_Form, object]])
    _marked: dict[int, str] = field(default_factory=dict[int, str])  # operands of the operation whose form is made

    def print_op(self, op: Operation) -> None:
        plain = self.print_generic_format or type(op).print is Operation.print or op.name == UnregisteredOp.name
        if plain or op.regions or op._successor_uses or self.stream is None:
            super().print_op(op)
            return
        operands, write = tuple(op._operands), self.stream.write
        first, rest = self._form(op, operands)
        if op.results:
            write(f"{', '.join([f'%{self._name(result)}' for result in op.results])} = ")
        write(first)
        for number, text in rest:
            write(f"%{self._name(operands[number])}{text}")

    def print_ssa_value(self, value: SSAValue) -> str:
        marked = self._marked.get(id(value))
        if marked is not None:
            self.print_string(marked)
            return marked
        name = self._name(value)
        self.print_string(f"%{name}")
        return name

    def print_attribute(self, attribute: Attribute) -> None:
        known = self._texts.get(id(attribute))
        if known is None:
            # Kept alive, so that its id is not reused.
            known = self._texts[id(attribute)] = attribute, self._attribute_text(attribute)
        self.print_string(known[1])

    def _name(self, value: SSAValue) -> str:
        """Return the name of a value without its sign, given when it is first asked for."""
        name = self._names.get(id(value))
        if name is None:
            if hint := value.name_hint:
                count = self.ssa_names.get(hint, 0)
                self.ssa_names[hint] = count + 1
                name = f"{hint}_{count}" if count else hint
            else:
                name = self._get_new_valid_name_id()
            self._names[id(value)] = name
        return name

    def _form(self, op: Operation, operands: tuple[SSAValue, ...]) -> _Form:
        same = None
        if len(set(map(id, operands))) < len(operands):
            same = tuple(operands.index(operand) for operand in operands)
        attributes = (*op.properties.values(), *op.attributes.values())
        types = tuple(map(_type_of, (*operands, *op.results)))
        key = (type(op), same, *op.properties, None, *op.attributes, *map(id, attributes), None, *map(id, types))
        known = _FORMS.get(key) or self._forms.get(key)
        if known is None:
            text = self._text_of(op, {id(of): f"{_MARK}{number}{_MARK}" for number, of in enumerate(operands)})
            known = _split(text), (attributes, types)
            if any(alias in text for alias in self.aliases.values()):  # which other modules give another meaning
                self._forms[key] = known
            else:
                if len(_FORMS) >= _KEPT_FORMS:
                    _FORMS.clear()
                _FORMS[key] = known
        return known[0]

    def _text_of(self, op: Operation, marked: dict[int, str]) -> str:
        """Return the text of an operation behind its results, with a mark in the place of each operand."""
        stream, self.stream, self._marked = self.stream, StringIO(), marked
        try:
            self.print_string(op.name)
            op.print(self)
            return self.stream.getvalue()
        finally:
            self.stream, self._marked = stream, {}

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        if self.stream is None:
            super()._print_new_line(indent, print_message)
        else:
            self.stream.write("\n" + " " * self.indent_num_spaces * (self._indent if indent is None else indent))

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if self.stream is None or "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self.stream.write(text)

    def alias_definitions(self) -> str:
        """Return the lines that define the aliases used."""
        lines: list[str] = []
        for attribute, alias in self.aliases.items():
            lines.append(f"{alias} = {self.written_out(attribute)}\n")
        return "".join(lines)

    def print_float(self, value: float, type: AnyFloat) -> None:
        if isfinite(value):
            super().print_float(value, type)
        else:
            self.print_string(f"0x{bytes_of(value, type)[::-1].hex().upper()}")

    def _attribute_text(self, attribute: Attribute) -> str:
        stem = None if self.print_generic_format else _ALIAS.get(type(attribute))
        if stem is None:
            return self.written_out(attribute)
        if attribute not in self.aliases:
            number = sum(type(a) is type(attribute) for a in self.aliases)
            self.aliases[attribute] = f"#{stem}{number or ''}"
        return self.aliases[attribute]

    def written_out(self, attribute: Attribute) -> str:
        """Return the text of an attribute, without its own alias."""
        stream, self.stream = self.stream, StringIO()
        try:
            if type(attribute) is DenseIntOrFPElementsAttr and _loses_bits(attribute := _shortened(attribute)):
                self._print_bits(attribute)
            else:
                super().print_attribute(attribute)
            return self.stream.getvalue()
        finally:
            self.stream = stream

    def _print_bits(self, attribute: DenseIntOrFPElementsAttr[AnyFloat]) -> None:
        """Print a splat by the bits of its element, a list by all its bytes."""
        data = attribute.data.data
        bits = f"0x{data[::-1].hex().upper()}" if len(attribute) == 1 else f'"0x{data.hex().upper()}"'
        self.print_string(f"dense<{bits}> : ")
        self.print_attribute(attribute.type)


def _split(text: str) -> _Form:
    """Split the text of an operation at the marked operands."""
    first, *rest = text.split(_MARK)
    return first, [(int(number), text) for number, text in zip(rest[::2], rest[1::2], strict=True)]


def _shortened(attribute: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Collapse equal elements to a splat, which prints the same: xDSL compares them one by one in Python."""
    if attribute.get_element_type() == i1:
        data = attribute.data.data.replace(b"\xff", b"\x01")  # true in MLIR's bytes
        attribute = DenseIntOrFPElementsAttr(attribute.type, BytesAttr(data))
    if not is_splat(attribute):
        return attribute
    return _splat(attribute.type, attribute.data.data[: attribute.type.element_type.compile_time_size])


@lru_cache(_KEPT_FORMS)
def _splat(type_: RankedStructure[AnyDenseElement], element: bytes) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr(type_, BytesAttr(element))


def _loses_bits(attribute: Attribute) -> TypeGuard[DenseIntOrFPElementsAttr[AnyFloat]]:
    """Return whether decimals lose bits: of NaNs, or of zeros of both signs, which xDSL takes for a splat."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or not isinstance(attribute.get_element_type(), AnyFloat):
        return False
    return any(map(isnan, attribute.get_values())) or (len(attribute) > 1 and attribute.is_splat())
