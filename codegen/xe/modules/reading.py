"""Reading of modules; errors name file, line and column, with a marker under the place."""

import re
import sys
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.errors import CompileFailed
from codegen.xe.dialects import context
from codegen.xe.dialects.kernel_context import KernelParser

_LONGEST_LINE = 200  # shown of a source
_MANY_DIGITS = f"expected numbers of at most {sys.get_int_max_str_digits()} digits, got a longer one"


@dataclass(init=False)
class _PlacedParser(KernelParser):
    """A parser that records the positions of operations."""

    places: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def __init__(self, source: str, name: str) -> None:
        super().__init__(context(), source, name)
        self.places = {}

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        self.places[op] = start
        return op


def read_module(source: str, name: str) -> ModuleOp:
    """Parse and verify a module.

    Raises:
        CompileFailed: stage source; the text is not a module of these dialects, or not a valid one.
    """
    parser = _PlacedParser(source, name)
    try:
        module = parser.parse_module()
    except ParseError as error:
        raise CompileFailed("source", _at(source, name, _use(parser, source) or error.span.start, error.msg)) from error
    except (VerifyException, ValueError) as error:  # an invalid attribute or type before the current token
        message = _MANY_DIGITS if "integer string conversion" in str(error) else str(error)
        raise CompileFailed("source", _at(source, name, parser.pos, message)) from error
    try:
        module.verify()
    except VerifyException as error:
        raise CompileFailed("source", _at(source, name, _place(module, parser.places), str(error))) from error
    return module


def _use(parser: Parser, source: str) -> int | None:
    """Return the position of the first undefined value, if the parser reached the end of the text."""
    names = [re.escape(name) for name in parser.forward_ssa_references]
    if not names or source[parser.pos :].strip():
        return None
    found = re.search(rf"%(?:{'|'.join(names)})(?![\w$.-])", source)
    return None if found is None else found.start()


def _place(module: ModuleOp, places: dict[Operation, int]) -> int:
    """Return the position of the first operation that fails verification; 0 if there is none."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException:
            return places.get(op, 0)
    return 0


def _at(source: str, name: str, position: int, message: str) -> str:
    """Return `file:line:column: message`, the line, and a marker under the position."""
    before = source[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    shown = source.splitlines()[line - 1] if line <= len(source.splitlines()) else ""
    first = max(0, column - _LONGEST_LINE // 2) if len(shown) > _LONGEST_LINE else 0
    return f"{name}:{line}:{column}: {message}\n{shown[first : first + _LONGEST_LINE]}\n{' ' * (column - 1 - first)}^"
