"""A group of commands whose first one needs no name."""

from typing import Any

from typer.core import TyperGroup


class FirstByDefault(TyperGroup):
    """A group whose first command is the default."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the first command's name if the arguments do not begin with a command."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
