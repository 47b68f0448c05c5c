"""Output of a command: tables for people, one JSON document for programs."""

import json
import re
import textwrap
from collections.abc import Iterable
from unicodedata import category

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleDimensions
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

_UNBOUNDED = 10_000
_MARK = "\N{REPLACEMENT CHARACTER}"
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, directions of writing, halves of pairs, ends of lines


class _Output(Console):
    """As wide as its terminal, or COLUMNS; pipes get whole lines, without the spaces that fill them to the width."""

    @property
    def size(self) -> ConsoleDimensions:
        found = super().size
        is_bounded = self._width is not None or self.is_terminal or self._environ.get("COLUMNS", "").isdigit()
        return found if is_bounded else ConsoleDimensions(_UNBOUNDED, found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self.width, self.height = new_size

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        text = super()._render_buffer(s if s.control else Segment(printable(s.text), s.style) for s in buffer)
        if self.is_terminal:
            return text
        *lines, rest = text.split("\n")
        return "\n".join([*(line.rstrip(" ") for line in lines), rest])


def printable(text: str) -> str:
    """Return a text with marks in place of characters that a terminal would obey: names may come from others."""
    if text.isprintable():
        return text
    return "".join(_MARK if category(c) in _OBEYED and c not in "\n\t" else c for c in text)


# Without markup and emoji codes: names of devices and messages may hold brackets and colons.
CONSOLE = _Output(markup=False, emoji=False)
ERRORS = _Output(stderr=True, markup=False, emoji=False)


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    CONSOLE.out(json.dumps(document, indent=2, allow_nan=False), highlight=False)


def text_table(*columns: str | Column, title: str | None = None, spaced: bool = False) -> Table:
    """Return an empty table whose named columns fold long texts; `spaced` adds an empty line between rows.

    A title stays on one line, also above a narrower table.
    """
    made = (Column(column, overflow="fold") if isinstance(column, str) else column for column in columns)
    line = None if title is None else Text(title, "table.title", no_wrap=True, overflow="ignore")
    return Table(*made, title=line, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), leading=int(spaced))


def number_column(heading: str) -> Column:
    """Return a right-aligned column of numbers, which are never wrapped."""
    return Column(heading, justify="right", no_wrap=True)


def print_line(text: str, console: Console = CONSOLE) -> None:
    """Print a line without wrapping."""
    console.print(text, highlight=False, soft_wrap=True)


def print_fact(name: str, text: str) -> None:
    """Print a named fact, wrapped to the terminal, below a heading."""
    print_wrapped(f"  {name:8} {text}", indent="           ")


def print_wrapped(text: str, *, style: str | None = None, indent: str = "") -> None:
    """Print a sentence wrapped to the terminal, later lines after an `indent`; no line begins with a percent sign.

    A command between backquotes stays on one line, as far as it fits.
    """
    held = re.sub("`[^`]*`", lambda said: said[0].replace(" ", "\0"), text.replace(" %", "\0%"))
    lines = textwrap.wrap(held, CONSOLE.width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    for line in lines:
        CONSOLE.print(line.replace("\0", " "), highlight=False, style=style, soft_wrap=True)
