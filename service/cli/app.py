"""The application of the command line. Importing it imports no command (`loading`)."""

from typing import Annotated

import typer

from service.cli import loading
from service.cli.access.chosen_server import choose

app = typer.Typer(
    name="xetune",
    cls=loading.LoadedWhenNamed,
    help="Tune GEMM kernels for Intel GPUs and CPUs; verify, store and serve them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        # Imported here: it brings parsers of mail with it.
        from importlib.metadata import version

        typer.echo(f"xetune {version('xetune')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            envvar="XETUNE_SERVER",
            help="Service to use in place of the database of this machine; XETUNE_API_KEY holds the key.",
            show_default=False,
        ),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Tune GEMM kernels for Intel GPUs and CPUs; verify, store and serve them."""
    source = context.get_parameter_source("server")
    is_option = source is not None and source.name == "COMMANDLINE"
    choose(server, context.invoked_subcommand, is_option=is_option)
