"""Parsing and printing shared by the XeGPU operations, in the spelling of MLIR's documentation and of the RFC."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from codegen.xe.dialects.cache_hint import (
    HINTS,
    CachePolicy,
    XeGPUCacheHint,
)
from codegen.xe.dialects.elements import NAMES_IN_C
from codegen.xe.dialects.index_list import (
    Index,
    print_indices,
    resolve_index,
)
from codegen.xe.dialects.xegpu.layout import (
    DistributeLayout,
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.memory import (
    MemorySpaceAttr,
    parse_memory_space,
)
from codegen.xe.dialects.xegpu.types import (
    MemDescType,
    NbarrierType,
    TensorDescType,
)

_KEYS = {f"L{n}{suffix}": f"l{n}_hint" for n in (1, 2, 3) for suffix in ("", "_hint")} | {
    "sg_map": "layout",
    "sg_map_a": "layout_a",
    "sg_map_b": "layout_b",
    "sg_map_c": "layout_cd",
}
"""Other names of properties."""


@dataclass(slots=True)
class Extras:
    """Entries in braces: those with a name in MLIR's documentation, and layouts without a name."""

    entries: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    layouts: list[DistributeLayout] = field(default_factory=list[DistributeLayout])

    def split(self, op: type[Operation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Return the entries that are properties of an operation, and the rest."""
        known = cast(Any, op).get_irdl_definition().properties
        properties = {key: value for key, value in self.entries.items() if key in known}
        return properties, {key: value for key, value in self.entries.items() if key not in known}


def parse_extras(parser: Parser, unnamed: Sequence[str] = ("layout",)) -> Extras:
    """Parse `<{...}> {...}`; layouts without a name get those of `unnamed`, of which the last may be given alone."""
    extras = Extras()
    if parser.parse_optional_punctuation("<"):
        parser.parse_punctuation("{")
        _parse_entries(parser, extras)
        parser.parse_punctuation(">")
    if parser.parse_optional_punctuation("{"):
        _parse_entries(parser, extras)
    count = len(extras.layouts)
    if count not in {0, 1, len(unnamed)}:
        parser.raise_error(f"expected {len(unnamed)} layouts or one, got {count}")
    for key, layout in zip(unnamed[-1:] if count == 1 else unnamed, extras.layouts, strict=False):
        extras.entries[key] = layout
    return extras


def _parse_entries(parser: Parser, extras: Extras) -> None:
    """Parse up to the closing brace; the RFC also writes layouts without a name and without commas."""
    while parser.parse_optional_punctuation("}") is None:
        written = parser.parse_optional_identifier_or_str_literal()
        if written is None:
            extras.layouts.append(_layout(parser, parser.parse_attribute()))
        else:
            key = _KEYS.get(written, written)
            if key in extras.entries:
                parser.raise_error(f"{key} is given twice")
            extras.entries[key] = _parse_value(parser, key) if parser.parse_optional_punctuation("=") else UnitAttr()
        parser.parse_optional_punctuation(",")


def _layout(parser: Parser, attribute: Attribute) -> DistributeLayout:
    if not isinstance(attribute, LayoutAttr | SliceAttr | SgMapAttr):
        parser.raise_error(f"expected key = value, or a layout without a key, got {attribute}")
    return attribute


def _parse_value(parser: Parser, key: str) -> Attribute:
    if key == "memory_space":
        return MemorySpaceAttr(parse_memory_space(parser))
    attribute = parser.parse_optional_attribute()
    if key in HINTS and attribute is None:
        return XeGPUCacheHint(parser.parse_str_enum(CachePolicy))
    if attribute is None:
        return StringAttr(parser.parse_identifier())
    is_list = key == "transpose" and not isinstance(attribute, UnitAttr)
    return int_array(parser, attribute) if is_list else attribute


def parse_type(parser: Parser) -> Attribute:
    """Parse a type; the RFC writes XeGPU types without their dialect, and number types as in C."""
    for name, type_ in (("tensor_desc", TensorDescType), ("mem_desc", MemDescType)):
        if parser.parse_optional_keyword(name):
            return type_.new(type_.parse_parameters(parser))
    if parser.parse_optional_keyword("nbarrier"):
        return NbarrierType()
    word = parser.parse_optional_keyword_in(tuple(NAMES_IN_C))
    return parser.parse_type() if word is None else NAMES_IN_C[word]


def parse_signature(parser: Parser, *, colon: bool = False) -> tuple[list[Attribute], Attribute | None]:
    """Parse `: a, b -> c`; the RFC also writes parentheses, and a comma before `into`; `colon`: already parsed."""
    if not colon:
        parser.parse_punctuation(":")
    in_parens = parser.parse_optional_punctuation("(") is not None
    types = [parse_type(parser)]
    while parser.parse_optional_punctuation(","):
        if parser.parse_optional_keyword("into"):
            return types, parse_type(parser)
        types.append(parse_type(parser))
    if in_parens:
        parser.parse_punctuation(")")
    return types, parse_type(parser) if parse_optional_arrow(parser) else None


def parse_full_signature(parser: Parser, *, colon: bool = False) -> tuple[list[Attribute], Attribute]:
    """Parse `: a, b -> c`, with the type of the result."""
    types, result = parse_signature(parser, colon=colon)
    if result is None:
        parser.raise_error("expected -> and the type of the result (into and to are read as well)")
    return types, result


def parse_optional_indices(parser: Parser) -> tuple[Index, ...] | None:
    """Parse `[%m, 64]` if present."""

    def parse_index() -> Index:
        operand = parser.parse_optional_unresolved_operand()
        return parser.parse_integer() if operand is None else resolve_index(parser, operand)

    found = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parse_index)
    return None if found is None else tuple(found)


_LARGEST_PACK = 16


def parse_packs(parser: Parser) -> tuple[list[UnresolvedOperand], bool]:
    """Parse `%a, %b:2`, where `%b:2` is `%b#0, %b#1`; also return whether the colon of the types was parsed."""
    operands: list[UnresolvedOperand] = []
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        if parser.parse_optional_punctuation(":"):
            count = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
            if count is None:
                return [*operands, operand], True
            if not 1 <= count <= _LARGEST_PACK:
                parser.raise_error(f"expected a pack of 1 to {_LARGEST_PACK} values, got {count}")
            operands += [replace(operand, index=n) for n in range(count)]
        else:
            operands.append(operand)
        if parser.parse_optional_punctuation(",") is None:
            break
    return operands, False


def parse_optional_arrow(parser: Parser) -> bool:
    """Parse `->` if present, or the `into` and `to` of the RFC."""
    return bool(parser.parse_optional_punctuation("->") or parser.parse_optional_keyword_in(("into", "to")))


def resolve(parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute]) -> list[SSAValue]:
    """Resolve operands; types listed in another order, or only in part, are matched to the defined values."""
    values = [parser.ssa_values.get(o.operand_name, ())[o.index : o.index + 1] for o in operands]
    if all(values) and {v[0].type for v in values} >= set(types):
        return [v[0] for v in values]
    if len(types) != len(operands):
        parser.raise_error(f"expected the types of {len(operands)} operands, got {len(types)}")
    return [parser.resolve_operand(operand, t) for operand, t in zip(operands, types, strict=True)]


def int_array(parser: Parser, attribute: Attribute) -> DenseArrayBase[IntegerType]:
    """Return an array of i64 from `array<i64: 1, 0>` or `[1, 0]`."""
    if isa(attribute, DenseArrayBase[IntegerType]):
        return DenseArrayBase.from_list(i64, [int(v) for v in attribute.get_values()])
    if not isa(attribute, ArrayAttr[IntegerAttr]):
        parser.raise_error(f"expected integers, as in array<i64: 1, 0> or [1, 0], got {attribute}")
    return DenseArrayBase.from_list(i64, [e.value.data for e in attribute])


def print_extras(printer: Printer, op: Operation, hidden: Sequence[str] = ()) -> None:
    """Print properties as `<{...}>` and attributes as `{...}`, except those that the syntax prints elsewhere."""
    shown = {k: v for k, v in op.properties.items() if k not in hidden and k != "operandSegmentSizes"}
    if shown:
        printer.print_string(" ")
        with printer.in_angle_brackets():
            printer.print_attr_dict(shown)
    printer.print_op_attributes(op.attributes)


def print_values(printer: Printer, *values: SSAValue | None) -> None:
    """Print ` %a, %b`."""
    printer.print_string(" ")
    printer.print_list([v for v in values if v is not None], printer.print_ssa_value)


def print_optional_indices(
    printer: Printer, values: Sequence[Index], static: DenseArrayBase[IntegerType] | None
) -> None:
    """Print `[%m, 64]` unless there is no list."""
    if static is not None:
        print_indices(printer, values)


def print_types(printer: Printer, *values: SSAValue | None, result: SSAValue | None = None) -> None:
    """Print ` : a, b -> c`."""
    printer.print_string(" : ")
    printer.print_list([v.type for v in values if v is not None], printer.print_attribute)
    if result is not None:
        printer.print_string(" -> ")
        printer.print_attribute(result.type)
