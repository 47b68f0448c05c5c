"""The reference of the command line, from its parser."""

from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from service.cli.app import app
from service.cli.commands import COMMANDS
from service.cli.loading import load


def cli_reference() -> str:
    """Return a page with each command: its usage, arguments and options."""
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="xetune")
    parts = [
        "# Command line",
        "Generated from the parser of this version. `xetune COMMAND --help` prints the same.",
        *_described(root, context),
    ]
    for name in COMMANDS:
        parts += _command(load(name), typer.Context(load(name), info_name=name, parent=context), 2)
    return "\n\n".join(parts) + "\n"


def _command(command: Any, context: typer.Context, level: int) -> Iterator[str]:
    yield f"{'#' * level} {context.command_path}"
    yield from _described(command, context)
    for name, child in command.commands.items() if isinstance(command, TyperGroup) else ():
        if not child.hidden:
            yield from _command(child, typer.Context(child, info_name=name, parent=context), level + 1)


def _described(command: Any, context: typer.Context) -> Iterator[str]:
    if command.help:
        yield _escaped(command.help.replace("\b\n", ""))
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    rows = [record for each in command.get_params(context) if (record := each.get_help_record(context)) is not None]
    lines = [f"| `{_cell(name)}` | {_cell(_escaped(text))} |" for name, text in rows]
    yield "\n".join(["| option | meaning |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*")
