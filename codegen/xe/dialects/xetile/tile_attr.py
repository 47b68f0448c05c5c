"""`#xetile.tile_attr`: attributes of a tile other than its shape."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from codegen.xe.dialects.maps import (
    Ints,
    SgMap,
    WgMap,
    format_ints,
    verify_pair,
)

ROW_MAJOR = (1, 0)
COLUMN_MAJOR = (0, 1)
GLOBAL_MEMORY = 0
SHARED_LOCAL_MEMORY = 3


@dataclass(frozen=True, slots=True)
class TileTraits:
    """Attributes of a tile other than its shape. `order` is memory order: dimension 0 is the fastest."""

    sg_map: SgMap | None = None
    wg_map: WgMap | None = None
    order: Ints = ROW_MAJOR
    inner_blocks: Ints | None = None
    array_length: int = 1
    memory_space: int = GLOBAL_MEMORY
    scattered: bool = False


@irdl_attr_definition
class TileAttr(Data[TileTraits]):
    """`#xetile.tile_attr<...>`; keys with default values are not printed."""

    name = "xetile.tile_attr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TileTraits:
        return parse_traits(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        entries = [(f.name, getattr(self.data, f.name)) for f in fields(TileTraits)]
        with printer.in_angle_brackets():
            printer.print_list([e for e in entries if e[1] != getattr(DEFAULT_TRAITS, e[0])], _entry_printer(printer))

    def verify(self) -> None:
        traits = self.data
        if traits.order not in (ROW_MAJOR, COLUMN_MAJOR):
            verify_pair("xetile.tile_attr: order", traits.order, least=0)
            raise VerifyException(f"xetile.tile_attr: expected order [1, 0] or [0, 1], got {format_ints(traits.order)}")
        if traits.inner_blocks is not None:
            verify_pair("xetile.tile_attr: inner_blocks", traits.inner_blocks)
        if traits.array_length < 1:
            raise VerifyException(f"xetile.tile_attr: expected array_length of at least 1, got {traits.array_length}")
        if traits.memory_space not in (GLOBAL_MEMORY, SHARED_LOCAL_MEMORY):
            raise VerifyException(
                f"xetile.tile_attr: expected memory_space 0 (global) or 3 (shared local), got {traits.memory_space}"
            )


DEFAULT_TRAITS = TileTraits()


def parse_traits(parser: AttrParser, delimiter: AttrParser.Delimiter) -> TileTraits:
    """Parse `order = [0, 1], memory_space = 3 : i32`, in brackets or bare."""
    values: dict[str, object] = {}

    def parse_entry() -> None:
        at, written = parser.pos, parser.parse_identifier()
        key = _OTHER_KEYS.get(written, written)
        if key in values:
            parser.raise_error(f"tile_attr: {key} is given twice", at)
        if key not in _PARSE:
            parser.raise_error(f"tile_attr: expected one of {', '.join(_PARSE)}, got {written}", at)
        if key == "scattered" and not parser.parse_optional_punctuation("="):
            values[key] = True  # the RFC writes the bare keyword
            return
        if key != "scattered":
            parser.parse_punctuation("=")
        values[key] = _PARSE[key](parser)

    parser.parse_comma_separated_list(delimiter, parse_entry)
    return TileTraits(**values)  # pyright: ignore[reportArgumentType]


def _parse_wg_map(parser: AttrParser) -> WgMap:
    attr = parser.parse_optional_attribute()
    if attr is None:
        return WgMap(WgMap.parse_parameter(parser))
    if not isinstance(attr, WgMap):
        parser.raise_error(f"tile_attr: expected a wg_map, got {attr}")
    return attr


def _parse_sg_map(parser: AttrParser) -> SgMap:
    attr = parser.parse_optional_attribute()
    if attr is None:
        return SgMap(SgMap.parse_parameter(parser))
    if not isinstance(attr, SgMap):
        parser.raise_error(f"tile_attr: expected an sg_map, got {attr}")
    return attr


def _parse_typed_integer(parser: AttrParser) -> int:
    attr = parser.parse_attribute()
    if not isinstance(attr, IntegerAttr):
        parser.raise_error(f"tile_attr: expected an integer, got {attr}")
    return attr.value.data


def _parse_array(parser: AttrParser) -> Ints:
    """Parse `[16, 32]` or `array<i64: 16, 32>`."""
    values = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    if values is not None:
        return tuple(values)
    attr = parser.parse_attribute()
    if not isa(attr, DenseArrayBase[IntegerType]):
        parser.raise_error(f"tile_attr: expected integers, as in [16, 32] or array<i64: 16, 32>, got {attr}")
    return tuple(attr.get_values())


def _parse_blocks(parser: AttrParser) -> Ints | None:
    return _parse_array(parser) or None  # older files write [] for none


_OTHER_KEYS = {"wg": "wg_map", "sg": "sg_map", "scatter": "scattered", "inner_block": "inner_blocks"}
"""Keys as the RFC also writes them."""

_PARSE: dict[str, Callable[[AttrParser], object]] = {
    "sg_map": _parse_sg_map,
    "wg_map": _parse_wg_map,
    "order": _parse_array,
    "inner_blocks": _parse_blocks,
    "array_length": _parse_typed_integer,
    "memory_space": _parse_typed_integer,
    "scattered": lambda parser: parser.parse_boolean(),
}

_INTEGER_TYPE = {"array_length": "i64", "memory_space": "i32"}


def _entry_printer(printer: Printer) -> Callable[[tuple[str, object]], None]:
    def print_entry(entry: tuple[str, object]) -> None:
        key, value = entry
        printer.print_string(f"{key} = ")
        if isinstance(value, WgMap | SgMap):
            value.print_parameter(printer)
        elif isinstance(value, tuple):
            printer.print_string(format_ints(value))
        elif isinstance(value, bool):
            printer.print_string("true")
        else:
            printer.print_string(f"{value} : {_INTEGER_TYPE[key]}")

    return print_entry
