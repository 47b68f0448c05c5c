"""Installed tools as text, and progress of an installation."""

from rich.table import Column, Table

from service.api.toolchain.listing import Tool
from service.cli.printing.output import text_table


def table_of(tools: list[Tool]) -> Table:
    """Return the installed tools as a table."""
    table = text_table(Column("tool", no_wrap=True), Column("version", no_wrap=True), Column("for"), "where")
    for tool in tools:
        where = tool.advice if tool.path is None or tool.advice is not None else tool.path
        table.add_row(tool.name, tool.version or "-", tool.purpose, where or "")
    return table
