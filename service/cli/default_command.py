"""A group of commands whose first one needs no name."""

from typing import Any

from typer.core import TyperGroup


class FirstByDefault(TyperGroup):
    """A group whose first command is the default: without arguments, and where options or sizes come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the first command's name if the arguments begin with no command."""
        begins = args[0] if args else ""
        is_default = begins.startswith("-") or begins[:1].isdigit() if args else not ctx.resilient_parsing
        if is_default and begins != "--help":
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
