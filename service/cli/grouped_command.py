"""Help of a command: its own options first, then those of a problem, which many commands share; none is cut."""

import re
from typing import Any

import typer
from typer.core import TyperCommand

_UNCUT = 10_000
_NEGATIVE = re.compile(r"-[0-9]")


class GroupedCommand(TyperCommand):
    """A command whose help lists options by the panel that they name, those without one first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; a negative number in place of an option is told as such.

        Raises:
            BadParameter: it is one; no option is a number.
        """
        try:
            return super().parse_args(ctx, [*args])
        except typer.TyperException as error:
            named: str = getattr(error, "option_name", "")
            if _NEGATIVE.match(named) is None:
                raise
            whole = next((argument for argument in args if argument.startswith(named)), named)
            raise typer.BadParameter(f"expected a positive number, got {whole}", ctx) from error

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then each group of options under its heading."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            panel = None if is_argument else getattr(parameter, "rich_help_panel", None)
            groups.setdefault(panel or ("Arguments" if is_argument else "Options"), []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def get_short_help_str(self, limit: int = _UNCUT) -> str:
        """Return the first sentence of the help text, whole: lists of commands wrap it."""
        return super().get_short_help_str(_UNCUT)
