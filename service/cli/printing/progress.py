"""Progress bar, messages beside it, and the exit status of a command that runs a job."""

import signal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.api.jobs.schemas import JobOut
from service.api.jobs.status import JobStatus
from service.cli.printing.output import ERRORS

INTERRUPTED = 128 + signal.SIGINT
"""Exit status after Ctrl-C."""


def end_with(job: JobOut) -> None:
    """Exit with status 1 if a job gave no result.

    Raises:
        typer.Exit: it failed or was cancelled.
    """
    if job.status is not JobStatus.SUCCEEDED:
        raise typer.Exit(1)


def tell(message: str) -> None:
    """Print a message beside the progress bar, on standard error."""
    ERRORS.print(message, highlight=False, soft_wrap=True)


def bar(quiet: bool) -> Progress:
    """Return a progress bar on standard error, hidden where that is no terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=ERRORS, disable=quiet or not ERRORS.is_terminal)
