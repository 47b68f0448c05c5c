"""A group of commands whose first one needs no name."""

from typing import Any

from typer.core import TyperGroup


class FirstByDefault(TyperGroup):
    """Words that name no command are those of the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the first command's name before what does not begin with one."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
