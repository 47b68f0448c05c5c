"""Help of a command: its own options first, then those of a problem, which many commands share; none is cut."""

from typing import Any

from typer.core import TyperCommand

_UNCUT = 10_000


class GroupedCommand(TyperCommand):
    """A command whose help lists options by the panel that they name, those without one first."""

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
