"""The text of a module, and errors that show a place in it."""

from bisect import bisect_right
from dataclasses import dataclass, field

from codegen.errors import CompileFailed, Place, Refused
from codegen.xe.locations import OperationFailed

_LONGEST_LINE = 200  # shown of a source
_MARK = "\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class SourceText:
    """A text, named `name` in errors; the empty name is that of no text."""

    name: str
    text: str
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [0, *(at + 1 for at, character in enumerate(self.text) if character == "\n")]

    def place(self, position: int) -> Place:
        """Return the line and column of a position."""
        line = bisect_right(self._starts, position)
        return Place(line, position - self._starts[line - 1] + 1)

    def shown(self, message: str, place: Place | None) -> str:
        """Return `file:line:column: message`, the line, and a marker below; `file: message` without a place."""
        if place is None:
            return f"{self.name}: {message}" if self.name else message
        line = _printable(self.text[self._starts[place.line - 1] :].partition("\n")[0].rstrip("\r"))
        first = max(0, place.column - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
        where = f"{self.name}:{place.line}:{place.column}"
        marker = " " * (place.column - 1 - first)
        return f"{where}: {_printable(message)}\n{line[first : first + _LONGEST_LINE]}\n{marker}^"

    def error(self, stage: str, failed: OperationFailed) -> CompileFailed | Refused:
        """Return the error of a stage that failed at an operation."""
        message = self.shown(str(failed), failed.place)
        if failed.rule is not None:
            return Refused(failed.rule, message, failed.place)
        return CompileFailed(stage, message, failed.place)


def _printable(text: str) -> str:
    """Return a text of the same length with spaces for tabs, and marks for characters that are not printed."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else _MARK for c in text)
