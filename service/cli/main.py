"""xetune: the command line."""

import errno
import sys
from typing import Annotated

import typer

from codegen import CodegenError
from db.errors import DatabaseError
from hal import HalError
from service.artifacts import StorageError
from service.cli.audit import audit_command
from service.cli.backend.chosen import choose
from service.cli.cluster import app as cluster_app
from service.cli.compile import compile_command
from service.cli.database import app as database_app
from service.cli.devices import devices_app
from service.cli.exchange import export_command, import_command, measure_command
from service.cli.explain import explain_command
from service.cli.jobs import app as jobs_app
from service.cli.kernels import app as kernels_app
from service.cli.keys import app as keys_app
from service.cli.layout import layout_command
from service.cli.maintenance import app as maintenance_app
from service.cli.merge import merge_command
from service.cli.opt import opt_command
from service.cli.output import ERRORS
from service.cli.recordings import recordings_command
from service.cli.replay import replay_command
from service.cli.run import run_command
from service.cli.schedules import app as schedules_app
from service.cli.serve import coordinator_command, serve_command, worker_command
from service.cli.shapes import app as shapes_app
from service.cli.toolchain import app as toolchain_app
from service.cli.tune import tune_command
from service.errors import ServiceError
from service.settings import InvalidSettings
from service.toolchain.install import CannotInstall
from tuner.errors import TunerError

app = typer.Typer(
    name="xetune",
    help="Tunes GEMM kernels for Intel GPUs, proves their numbers, stores and serves them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(devices_app, name="devices")
app.command("compile")(compile_command)
app.command("explain")(explain_command)
app.command("opt")(opt_command)
app.command("run")(run_command)
app.command("tune")(tune_command)
app.add_typer(kernels_app, name="kernels")
app.command("export")(export_command)
app.command("import")(import_command)
app.command("measure")(measure_command)
app.command("merge")(merge_command)
app.command("recordings")(recordings_command)
app.command("replay")(replay_command)
app.command("layout")(layout_command)
app.add_typer(jobs_app, name="jobs")
app.add_typer(shapes_app, name="shapes")
app.add_typer(schedules_app, name="schedules")
app.add_typer(maintenance_app, name="maintenance")
app.command("serve")(serve_command)
app.command("worker")(worker_command)
app.command("coordinator")(coordinator_command)
app.add_typer(cluster_app, name="cluster")
app.add_typer(keys_app, name="keys")
app.command("audit")(audit_command)
app.add_typer(database_app, name="db")
app.add_typer(toolchain_app, name="toolchain")


@app.callback()
def options(
    context: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            envvar="XETUNE_SERVER",
            help="Work with this service in place of the database of this machine; XETUNE_API_KEY holds the key.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Tunes GEMM kernels for Intel GPUs, proves their numbers, stores and serves them."""
    source = context.get_parameter_source("server")
    is_option = source is not None and source.name == "COMMANDLINE"
    choose(server, context.invoked_subcommand, is_option=is_option)


_EXPECTED = (
    CodegenError,
    HalError,
    TunerError,
    ServiceError,
    DatabaseError,
    StorageError,
    InvalidSettings,
    CannotInstall,
)
_BAD_INPUT = 2


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 2."""
    try:
        app()
    except _EXPECTED as error:
        _end(str(error))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST):
            raise
        _end(f"{error.strerror}: {error.filename or 'file'}")


def _end(message: str) -> None:
    ERRORS.print(f"error: {message}", style="bold red", highlight=False, markup=False, soft_wrap=True)
    sys.exit(_BAD_INPUT)
