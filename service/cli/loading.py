"""Group of commands that are imported when they are invoked: the only module that imports them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from service.cli.commands import COMMANDS, Command
from service.cli.grouped_command import GroupedCommand


def _nothing(_: Command) -> None:
    pass


before_command: Callable[[Command], None] = _nothing
"""Called before a command's options are read and it is imported."""


class LoadedWhenNamed(TyperGroup):
    """The commands of `COMMANDS`; help and completion use their names and help texts, and import none."""

    def __init__(self, **attributes: Any) -> None:
        """Register every command by name."""
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=command.help) for name, command in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before a command; those with a value import pydantic."""
        if (named := next((argument for argument in args if argument in COMMANDS), None)) is not None:
            before_command(COMMANDS[named])
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import and return the command that the arguments begin with."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the invoked command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _with_what_came(error)
            raise


def _with_what_came(error: typer.BadParameter) -> str:
    """Return the message for an invalid option, with the given value, which Typer leaves out, and without
    prefixes.
    """
    # Imported here: help and completion do without.
    from pydantic import ValidationError

    from service.http.validation_errors import faults_of

    if not isinstance(error.__cause__, ValidationError):
        return error.message
    return "; ".join(fault.message for fault in faults_of(error.__cause__.errors(include_url=False)))


def load(name: str) -> Any:
    """Import a command of `COMMANDS`."""
    module, _, attribute = COMMANDS[name].at.partition(":")
    found = getattr(import_module(module), attribute)
    # A group of one, so that Typer makes commands and groups of them as it does within an application.
    of_one = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        for each in found.registered_commands:
            each.cls = GroupedCommand
        of_one.add_typer(found, name=name)
    else:
        of_one.command(name, cls=GroupedCommand)(found)
    return get_group(of_one).commands[name]
