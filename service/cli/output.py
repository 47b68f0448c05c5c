"""Where a command prints: tables for people, one JSON document for programs."""

import json
import textwrap

from rich.console import Console

# Without markup: names of devices and messages may hold brackets.
CONSOLE = Console(markup=False)
ERRORS = Console(stderr=True, markup=False)


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    CONSOLE.out(json.dumps(document, indent=2, allow_nan=False), highlight=False)


def print_wrapped(text: str) -> None:
    """Print a sentence on lines as wide as the terminal, none of which begins with a percent sign."""
    held = text.replace(" %", "\0%")  # one character that is no space
    for line in textwrap.wrap(held, CONSOLE.width, break_on_hyphens=False):
        CONSOLE.print(line.replace("\0", " "), highlight=False)
