"""Passes of this compiler as text."""

from codegen.xe.opt import our_passes
from service.cli.printing.output import CONSOLE


def print_passes() -> None:
    """Print each pass with its options and purpose."""
    for info in our_passes():
        options = f"{{{info.options}}}" if info.options else ""
        CONSOLE.print(f"{info.name}{options}\n    {info.purpose}", soft_wrap=True)
