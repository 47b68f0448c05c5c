"""How a command that takes long shows how it goes, and how it ends: a bar, Ctrl-C, the status of the program."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from service.api.jobs.schemas import (
    JobOut,
    JobStatus,
)
from service.cli.printing.evidence import shown_time
from service.cli.printing.output import ERRORS

INTERRUPTED = 128 + signal.SIGINT
"""Status of a program that Ctrl-C ended."""


def end_with(job: JobOut) -> None:
    """End the program with status 1 if the job gave no result.

    Raises:
        typer.Exit: it failed or was cancelled.
    """
    if job.status is not JobStatus.SUCCEEDED:
        raise typer.Exit(1)


def tell(message: str) -> None:
    """Say something beside the progress, on standard error."""
    ERRORS.print(message, highlight=False, soft_wrap=True)


def update(progress: Progress, task: TaskID, job: JobOut) -> None:
    """Show how a job goes."""
    best = "" if job.best is None else f"best {shown_time(job.best.evidence.time)}"
    progress.update(task, total=job.budget.trials, completed=job.done, description=f"trials  {best}")


def bar(quiet: bool) -> Progress:
    """A progress bar on standard error, where that is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=ERRORS, disable=quiet or not ERRORS.is_terminal)


@contextmanager
def stopping(stop_work: Callable[[], None]) -> Generator[threading.Event]:
    """The first Ctrl-C or SIGTERM sets the event and stops after the present trial, the second stops at once."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        stop_work()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ERRORS.print("stopping after the present trial (Ctrl-C again stops at once)")

    before = signal.signal(signal.SIGINT, stop), signal.signal(signal.SIGTERM, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
