"""Where a command prints: tables for people, one JSON document for programs."""

import json

from rich.console import Console

CONSOLE = Console()
ERRORS = Console(stderr=True)


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    CONSOLE.out(json.dumps(document, indent=2, allow_nan=False), highlight=False)
