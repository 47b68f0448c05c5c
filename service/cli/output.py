"""Where a command prints: tables for people, one JSON document for programs."""

import json

from rich.console import Console

# Without markup: names of devices and messages may hold brackets.
CONSOLE = Console(markup=False)
ERRORS = Console(stderr=True, markup=False)


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    CONSOLE.out(json.dumps(document, indent=2, allow_nan=False), highlight=False)
