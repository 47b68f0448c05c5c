"""A fast printer of modules with aliases for long attributes; the text of each attribute is cached."""

from dataclasses import dataclass, field
from io import StringIO
from math import isfinite, isnan
from typing import TypeGuard

from xdsl.dialects.builtin import AnyFloat, BytesAttr, DenseIntOrFPElementsAttr, i1
from xdsl.ir import Attribute
from xdsl.printer import Printer

from codegen.xe.dialects.literals import bytes_of, is_splat
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile.tile_attr import TileAttr

_ALIAS: dict[type[Attribute], str] = {TileAttr: "tile", WgMap: "wg_map"}


@dataclass(eq=False, repr=False)
class ModulePrinter(Printer):
    """Printer of whole modules; `aliases` must be printed before the module. No diagnostics."""

    aliases: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    _texts: dict[int, tuple[Attribute, str]] = field(default_factory=dict[int, tuple[Attribute, str]])
    _by_value: dict[Attribute, str] = field(default_factory=dict[Attribute, str])

    def print_attribute(self, attribute: Attribute) -> None:
        known = self._texts.get(id(attribute))
        if known is None:
            text = self._by_value.get(attribute)
            if text is None:
                text = self._by_value[attribute] = self._attribute_text(attribute)
            known = self._texts[id(attribute)] = attribute, text  # kept alive, so that its id is not reused
        self.print_string(known[1])

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
            if isinstance(attribute, DenseIntOrFPElementsAttr):
                attribute = _shortened(attribute)
            if _loses_bits(attribute):
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


def _shortened(attribute: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Collapse equal elements to a splat, which prints the same: xDSL compares them one by one in Python."""
    if attribute.get_element_type() == i1:
        data = attribute.data.data.replace(b"\xff", b"\x01")  # true in MLIR's bytes
        attribute = DenseIntOrFPElementsAttr(attribute.type, BytesAttr(data))
    if not is_splat(attribute):
        return attribute
    element = attribute.data.data[: attribute.type.element_type.compile_time_size]
    return DenseIntOrFPElementsAttr(attribute.type, BytesAttr(element))


def _loses_bits(attribute: Attribute) -> TypeGuard[DenseIntOrFPElementsAttr[AnyFloat]]:
    """Return whether decimals lose bits: of NaNs, or of zeros of both signs, which xDSL takes for a splat."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or not isinstance(attribute.get_element_type(), AnyFloat):
        return False
    return any(map(isnan, attribute.get_values())) or (len(attribute) > 1 and attribute.is_splat())
