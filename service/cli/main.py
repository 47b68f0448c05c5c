"""xetune: the command line, and its errors. Importing it imports no command (`loading`)."""

import errno
import sys

from service.cli.commands import Command
from service.cli.gc_policy import collect_after_imports
from service.cli.import_policy import leave_out_unused_parts
from service.cli.model_policy import build_models_when_used

# By module: a module that was not imported has raised nothing, and is not imported to look up its errors.
_EXPECTED = {
    "codegen.errors": "CodegenError",
    "hal.errors": "HalError",
    "tuner.errors": "TunerError",
    "service.errors": "ServiceError",
    "db.errors": "DatabaseError",
    "service.artifacts": "StorageError",
    "service.settings": "InvalidSettings",
    "service.api.toolchain.install": "CannotInstall",
    "service.cli.access.chosen_server": "LocalCommand",
    "xetune_client.errors": "ClientError",
}
_BAD_INPUT = 2
_INTERRUPTED = 130  # as Typer exits
_STORAGE_ERRORS = (
    errno.ENOSPC,
    errno.EACCES,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
)


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 2."""
    try:
        _run()
    except KeyboardInterrupt:  # while the first modules are imported
        sys.exit(_INTERRUPTED)
    except OSError as error:
        if error.errno not in _STORAGE_ERRORS:
            raise
        _end(f"{error.strerror}: {error.filename or 'file'}")
    except _expected() as error:
        _end(_message(error))


def _run() -> None:
    collect_after_imports()
    # Imported here, under that policy.
    from service.cli import bash_words, loading
    from service.cli.app import app

    loading.before_command = _prepare
    bash_words.rejoin()
    app(prog_name="xetune")


def _prepare(command: Command) -> None:
    # Imported here: help and the version do without.
    from hal.late_methods import compile_methods_when_called

    compile_methods_when_called()
    if command.with_server:
        leave_out_unused_parts()
        build_models_when_used()


def _expected() -> tuple[type[Exception], ...]:
    """Return the errors that are printed in one line, of the modules that are imported by now."""
    return tuple(getattr(sys.modules[module], name) for module, name in _EXPECTED.items() if module in sys.modules)


def _message(error: Exception) -> str:
    if "xetune_client.errors" not in sys.modules:
        return str(error)
    # Imported here, where a command used the client.
    from service.cli.access.connection import message_of

    return message_of(error)


def _end(message: str) -> None:
    # Imported here: a command that succeeded may have printed nothing.
    import typer

    from service.cli.printing.output import printable

    typer.secho(f"error: {printable(message)}", fg=typer.colors.RED, bold=True, err=True)
    sys.exit(_BAD_INPUT)
