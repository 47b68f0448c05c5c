"""Reading of modules; errors name file, line and column, with a marker under the place."""

import re
import struct
import sys

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.errors import CompileFailed
from codegen.xe.dialects import context
from codegen.xe.dialects.kernel_context import KernelParser
from codegen.xe.locations import OperationFailed, verify_at_places
from codegen.xe.modules.source_text import SourceText

_STAGE = "source"
_MANY_DIGITS = f"expected numbers of at most {sys.get_int_max_str_digits()} digits, got a longer one"
_NO_BLOCK = " in block definition"  # xDSL's message where a block neither goes on nor ends
_EXPECTED = re.compile(r"\bexpected\b", re.IGNORECASE)
_LONGEST_TOKEN = 40  # shown of a token
_TOO_LARGE = "expected numbers within the range of their type, got a larger one"


class _PlacedParser(KernelParser):
    """A parser that gives operations their places as locations."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(context(), source.text, source.name)
        self._source, self._name = source, StringAttr(source.name)

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        place = self._source.place(start)
        op.location = FileLineColLoc(self._name, IntAttr(place.line), IntAttr(place.column))
        return op


def read_module(source: SourceText) -> ModuleOp:
    """Parse and verify a module; its operations have their places as locations.

    Raises:
        CompileFailed: stage source; the text is not a module of these dialects, or not a valid one.
    """
    try:
        parser = _PlacedParser(source)  # which reads the first token
    except ParseError as error:
        raise _failed(source, error.span.start, _message(error)) from error
    try:
        module = parser.parse_module()
    except ParseError as error:
        use = _use(parser, source.text)
        message = _message(error) if use is None else f"expected a value that is defined, got {use[1]}"
        raise _failed(source, error.span.start if use is None else use[0], message) from error
    except (VerifyException, ValueError) as error:  # an invalid attribute or type before the current token
        message = _MANY_DIGITS if "integer string conversion" in str(error) else str(error)
        raise _failed(source, _before(source.text, parser.pos), message) from error
    except struct.error as error:
        raise _failed(source, _before(source.text, parser.pos), _TOO_LARGE) from error
    except NotImplementedError as error:  # of elements, named last
        message = f"expected elements of 1, 8, 16, 32 or 64 bits, got {str(error).rpartition(' ')[2]}"
        raise _failed(source, _before(source.text, parser.pos), message) from error
    except RecursionError as error:
        raise _failed(source, parser.pos, f"expected less nesting: {error}") from error
    try:
        verify_at_places(module)
    except OperationFailed as failed:
        raise source.error(_STAGE, failed) from failed
    return module


def _failed(source: SourceText, position: int, message: str) -> CompileFailed:
    place = source.place(position)
    return CompileFailed(_STAGE, source.shown(message, place), place)


def _before(text: str, position: int) -> int:
    """Return a position, or the end of the line before it if only spaces are between: the next token is no fault."""
    end = len(text[:position].rstrip())
    return end - 1 if end and "\n" in text[end:position] else position


def _message(error: ParseError) -> str:
    """Return the parser's message, with what came if it says only what was expected."""
    message = "expected an operation, or } at the end of a block" if error.msg == _NO_BLOCK else error.msg
    if not _EXPECTED.search(message) or "got" in message:
        return message
    token = error.span.text.split("\n")[0][:_LONGEST_TOKEN]
    at_end = not error.span.input.content[error.span.start :].strip()
    return f"{message}, got {'the end of the file' if at_end else token}" if token or at_end else message


def _use(parser: Parser, source: str) -> tuple[int, str] | None:
    """Return the position and name of the first undefined value, if the parser reached the end of the text."""
    names = [re.escape(name) for name in parser.forward_ssa_references]
    if not names or source[parser.pos :].strip():
        return None
    found = re.search(rf"%(?:{'|'.join(names)})(?![\w$.-])", source)
    return None if found is None else (found.start(), found[0])
