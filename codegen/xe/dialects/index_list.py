"""Lists that mix constant indices with SSA values: `[%m, 64]`."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerType, i64
from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from codegen.xe.dialects.interned import dense, numbers

Index = int | SSAValue
"""An index: a number, or an SSA value of type index."""

index = IndexType()


def split(values: Sequence[Index]) -> tuple[list[SSAValue], DenseArrayBase[IntegerType]]:
    """Return the SSA values, and the numbers with a marker in place of each value."""
    dynamic = [v for v in values if not isinstance(v, int)]
    return dynamic, dense(i64, [v if isinstance(v, int) else DYNAMIC_INDEX for v in values])


def join(dynamic: Iterator[SSAValue], static: DenseArrayBase[IntegerType] | None) -> tuple[Index, ...]:
    """Return the list that `split` took apart, consuming its SSA values; empty if `static` is None."""
    if static is None:
        return ()
    return tuple([next(dynamic) if s == DYNAMIC_INDEX else s for s in numbers(static)])


def markers(static: DenseArrayBase[IntegerType] | None) -> int:
    """Return the number of SSA values in the list."""
    return 0 if static is None else numbers(static).count(DYNAMIC_INDEX)


def parse_indices(parser: Parser) -> tuple[Index, ...]:
    """Parse `[%m, 64]`; `%two:2` is short for both results of an operation."""
    lists = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_index(parser))
    return tuple(value for values in lists for value in values)


def print_indices(printer: Printer, values: Sequence[Index]) -> None:
    """Print `[%m, 64]`."""
    printer.print_string("[")
    for place, value in enumerate(values):
        if place:
            printer.print_string(", ")
        if isinstance(value, int):
            printer.print_string(str(value))
        else:
            printer.print_ssa_value(value)
    printer.print_string("]")


def resolve_index(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    """Return the value of type index that an operand names."""
    return parser.resolve_operand(operand, index)


def parse_optional_pack(parser: Parser, operand: UnresolvedOperand) -> tuple[SSAValue, ...] | None:
    """Parse `:2` after an operand: both results of its operation; None if there is no colon with a number after it."""
    colon = parser._current_token  # pyright: ignore[reportPrivateUsage]  # the only way to look further ahead
    after = colon.span.input.content[colon.span.end : colon.span.end + 1]
    if colon.text != ":" or not after.isdigit():
        return None
    parser.parse_punctuation(":")
    count, known = parser.parse_integer(), parser.ssa_values.get(operand.operand_name, ())
    if len(known) != count or any(value.type != index for value in known):
        parser.raise_error(f"expected {count} values of type index in %{operand.operand_name}, got {len(known)}")
    return tuple(known)


def _parse_index(parser: Parser) -> tuple[Index, ...]:
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return (parser.parse_integer(),)
    pack = parse_optional_pack(parser, operand)
    return (resolve_index(parser, operand),) if pack is None else pack
