"""xetune toolchain: what is installed, and the installation of Intel's tools for the user."""

from dataclasses import asdict
from typing import Annotated

import typer

from service.api.toolchain.components import COMPONENTS, ToolName
from service.cli.default_command import FirstByDefault
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, ERRORS, print_json

app = typer.Typer(cls=FirstByDefault, help="Show the installed toolchain; install optional tools.")


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """Show the libraries, runtimes and compilers that are installed."""
    from service.api.toolchain.listing import list_toolchain
    from service.cli.compiler.tools import table_of
    from service.settings import read_settings

    tools = list_toolchain(read_settings())
    if as_json:
        print_json({"tools": [asdict(tool) for tool in tools]})
    else:
        CONSOLE.print(table_of(tools))


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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from service.api.toolchain.install import Machine, install
    from service.settings import read_settings

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
