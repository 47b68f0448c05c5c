"""Parsing shared by the XeTile operations, in the printed syntax and the spellings of the RFC and older files."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
)
from codegen.xe.dialects.xetile.tile import TileType

_RESULT_KEYS = {"map": "wg_map_result", "map1": "wg_map_source", "map2": "wg_map_result"}
"""Older names of the maps of an operation."""


def parse_arrow(parser: Parser) -> None:
    """Parse `->`; the RFC also writes `into`, `to` and `=>`."""
    if not parse_optional_arrow(parser):
        parser.raise_error("expected -> before the type of the result (into, to and => are read as well)")


def parse_optional_arrow(parser: Parser) -> bool:
    """Parse `->` or one of its other spellings if present."""
    if parser.parse_optional_punctuation("->") or parser.parse_optional_keyword_in(("into", "to")):
        return True
    if parser.parse_optional_punctuation("="):
        parser.parse_punctuation(">")
        return True
    return False


def parse_type(parser: Parser) -> Attribute:
    """Parse a type; the RFC writes a tile without its dialect, `tile<64x32xf16>`."""
    if parser.parse_optional_keyword("tile"):
        return TileType.new(TileType.parse_parameters(parser))
    return parser.parse_type()


def parse_operand_types(parser: Parser) -> list[Attribute]:
    """Parse the types of operands, `a, b`; the RFC also writes `(a, b)`, `a into b` and `a to b`."""
    in_parens = parser.parse_optional_punctuation("(") is not None
    types = [parse_type(parser)]
    while parser.parse_optional_punctuation(",") or parser.parse_optional_keyword_in(("into", "to")):
        types.append(parse_type(parser))
    if in_parens:
        parser.parse_punctuation(")")
    return types


def parse_listed_types(parser: Parser) -> list[Attribute]:
    """Parse the types of operands before an arrow, `a, b` or `(a, b)`."""
    in_parens = parser.parse_optional_punctuation("(") is not None
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_type(parser))
    if in_parens:
        parser.parse_punctuation(")")
    return types


def parse_attributes(parser: Parser) -> tuple[dict[str, Attribute], list[WgMap]]:
    """Parse a dictionary of attributes, and the maps that the RFC writes without a name, `{#map}` or `#map`."""
    attributes: dict[str, Attribute] = {}
    maps: list[WgMap] = []
    if parser.parse_optional_punctuation("{") is None:
        while (bare := parser.parse_optional_attribute()) is not None:
            maps.append(_bare_map(parser, bare))
        return attributes, maps
    while parser.parse_optional_punctuation("}") is None:
        if (key := parser.parse_optional_identifier_or_str_literal()) is None:
            maps.append(_bare_map(parser, parser.parse_attribute()))
        elif key in attributes:
            parser.raise_error(f"{key} is given twice")
        else:
            given = parser.parse_optional_punctuation("=")
            attributes[key] = UnitAttr() if given is None else parser.parse_attribute()
        parser.parse_optional_punctuation(",")
    return attributes, maps


def _bare_map(parser: Parser, attribute: Attribute) -> WgMap:
    if not isinstance(attribute, WgMap):
        parser.raise_error(f"expected key = value, or a wg_map without a key, got {attribute}")
    return attribute


def take_properties(
    op: type[Operation], attributes: dict[str, Attribute]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Split a dictionary into the properties of an operation and the rest; rename older names of maps."""
    known = cast(Any, op).get_irdl_definition().properties
    properties: dict[str, Attribute] = {}
    rest: dict[str, Attribute] = {}
    for key, value in attributes.items():
        new = _RESULT_KEYS.get(key, key)
        if new in known and new not in attributes.keys() - {key}:
            properties[new] = value
        else:
            rest[key] = value
    return properties, rest


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Parse `%a, %b`, with or without the commas; a comma may follow the last."""
    operands: list[UnresolvedOperand] = []
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        operands.append(operand)
        parser.parse_optional_punctuation(",")
    return operands


def resolve(parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute]) -> list[SSAValue]:
    """Resolve operands whose types may be listed in another order, or only in part.

    The RFC lists operands and types in several orders; the types of values that are already defined decide.
    """
    known = [_known(parser, operand) for operand in operands]
    values = [v for v in known if v is not None]
    if len(values) == len(known) and _are_among(types, [v.type for v in values]):
        return values
    if len(types) != len(operands):
        parser.raise_error(f"expected the types of {len(operands)} operands, got {len(types)}")
    return [parser.resolve_operand(operand, t) for operand, t in zip(operands, types, strict=True)]


def _known(parser: Parser, operand: UnresolvedOperand) -> SSAValue | None:
    values = parser.ssa_values.get(operand.operand_name)
    return values[operand.index] if values is not None and operand.index < len(values) else None


def _are_among(types: Sequence[Attribute], known: list[Attribute]) -> bool:
    left = list(known)
    for listed in types:
        if listed not in left:
            return False
        left.remove(listed)
    return True


def parse_int_array(parser: Parser, attribute: Attribute) -> DenseArrayBase[IntegerType]:
    """Return an array of i64 from `array<i64: 16, 16>` or `[16, 16]`."""
    if isinstance(attribute, DenseArrayBase):
        array = cast("DenseArrayBase[IntegerType]", attribute)
        return DenseArrayBase.from_list(i64, [int(v) for v in array.get_values()])
    entries = cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else ()
    numbers = [cast("IntegerAttr[IntegerType]", e).value.data for e in entries if isinstance(e, IntegerAttr)]
    if not numbers or len(numbers) != len(entries):
        parser.raise_error(f"expected integers, as in array<i64: 16, 16> or [16, 16], got {attribute}")
    return DenseArrayBase.from_list(i64, numbers)


def ints(values: DenseArrayBase[IntegerType]) -> Ints:
    """Return the numbers of an array."""
    return tuple(values.get_values())


def print_attributes(printer: Printer, op: Operation, hidden: Sequence[str] = ()) -> None:
    """Print properties and attributes as one dictionary, except those that the syntax prints elsewhere."""
    printer.print_op_attributes({k: v for k, v in op.properties.items() if k not in hidden} | op.attributes)


def spelling(name: str, op: type[Operation], read: Callable[[Parser], Operation] | None = None) -> type[Operation]:
    """Return an operation class that parses another name, or another syntax by `read`, as `op`."""

    def create(cls: type[Operation], **parts: Any) -> Operation:
        return op.create(**parts)

    def parse(cls: type[Operation], parser: Parser) -> Operation:
        return op.parse(parser) if read is None else read(parser)

    members: dict[str, object] = {
        "name": name,
        "__doc__": f"`{name}`, read as `{op.name}`.",
        "create": classmethod(cast("Callable[..., Operation]", create)),
        "parse": classmethod(cast("Callable[..., Operation]", parse)),
    }
    return type(f"{op.__name__}Spelling", (op,), members)
