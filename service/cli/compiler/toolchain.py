"""xetune toolchain: what is installed, and Intel's offline compiler for the user."""

from dataclasses import asdict

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.api.toolchain.install import (
    Machine,
    install_ocloc,
)
from service.api.toolchain.listing import (
    Tool,
    list_toolchain,
)
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, ERRORS, print_json
from service.settings import read_settings

app = typer.Typer(help="Show the installed toolchain; install optional compilers.", invoke_without_command=True)


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
def install_command() -> None:
    """Install Intel's offline compiler into your data folder, on Debian or Ubuntu, without root (75 MB
    download).
    """
    folder = read_settings().ocloc_dir
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=ERRORS, disable=not ERRORS.is_terminal, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, percent: float | None) -> None:
            bar.update(task, description=what, total=None if percent is None else 100, completed=percent or 0)

        ocloc = install_ocloc(folder, show, Machine.this())
    CONSOLE.print(f"ocloc {ocloc.version()} is in {folder}", highlight=False, soft_wrap=True)


def _table(tools: list[Tool]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("tool", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("for")
    table.add_column("where", overflow="fold")
    for tool in tools:
        where = tool.advice if tool.path is None or tool.advice is not None else tool.path
        table.add_row(tool.name, tool.version or "-", tool.purpose, where or "")
    return table
