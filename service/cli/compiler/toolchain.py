"""xetune toolchain: what is installed, and the installation of Intel's tools for the user."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from service.api.toolchain.components import (
    COMPONENTS,
    ToolName,
)
from service.api.toolchain.install import (
    Machine,
    install,
)
from service.api.toolchain.listing import (
    Tool,
    list_toolchain,
)
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, ERRORS, print_json, text_table
from service.settings import read_settings

app = typer.Typer(help="Show the installed toolchain; install optional tools.", invoke_without_command=True)


@app.callback()
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the libraries, runtimes and compilers that are installed."""
    if context.invoked_subcommand is not None:
        return
    tools = list_toolchain(read_settings())
    if as_json:
        print_json({"tools": [asdict(tool) for tool in tools]})
    else:
        CONSOLE.print(_table(tools))


@app.command("install")
def install_command(
    tool: Annotated[
        ToolName,
        typer.Argument(
            help="; ".join(
                f"{name}: {each.title}, {each.download_mb} MB to download" for name, each in COMPONENTS.items()
            )
        ),
    ] = ToolName.OCLOC,
) -> None:
    """Install one of Intel's tools into your data folder, on Debian or Ubuntu, without root."""
    component, folder = COMPONENTS[tool], read_settings().data_dir / tool
    size = f"downloads {component.download_mb} MB, takes {component.unpacked_mb} MB"
    ERRORS.print(f"{component.title}: {size} in {folder}", highlight=False, soft_wrap=True)
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=ERRORS, disable=not ERRORS.is_terminal, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, percent: float | None) -> None:
            bar.update(task, description=what, total=None if percent is None else 100, completed=percent or 0)

        version = install(component, folder, show, Machine.this())
    CONSOLE.print(f"{tool} {version} is in {folder}", highlight=False, soft_wrap=True)


def _table(tools: list[Tool]) -> Table:
    table = text_table(Column("tool", no_wrap=True), Column("version", no_wrap=True), Column("for"), "where")
    for tool in tools:
        where = tool.advice if tool.path is None or tool.advice is not None else tool.path
        table.add_row(tool.name, tool.version or "-", tool.purpose, where or "")
    return table
