"""JSON lines on the command line: export, and the summary of an import."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.artifact.files import write_named
from service.cli.printing.counted import counted
from service.cli.printing.output import print_json, print_line
from service.errors import BadRequest, Conflict, NotFound
from tuner.exchange.jsonl import error_of
from tuner.session.bounds import check_name

if TYPE_CHECKING:
    from service.api.exchange.schemas import ImportOut
    from xetune_client import models


def write(lines: bytes, output: Path | None, *, chosen: bool = False) -> None:
    """Write lines to a file, or to standard output.

    Raises:
        NotFound: results were `chosen`, and there are none.
    """
    if chosen and not count_records(lines):
        raise NotFound("no such results, and nothing written; `xetune jobs` lists what was tuned")
    if output is None:
        sys.stdout.write(lines.decode())
        return
    write_named(output, lines)
    print_line(f"{counted(count_records(lines), 'record')} written to {output}")


def check_output(output: Path | None) -> None:
    """Check that results, which are long and not for reading, would not go to a terminal.

    Raises:
        BadRequest: they would.
    """
    if output is None and sys.stdout.isatty():
        raise BadRequest(
            "expected a file or a pipe for the results, got a terminal: add -o FILE, or pipe them (`| gzip > FILE`)"
        )


def check_whole(lines: bytes) -> None:
    """Check that an export did not break off.

    Raises:
        Conflict: it did; says why.
    """
    if (error := error_of(lines)) is not None:
        raise Conflict(f"nothing is written: {error}", rule="unreadable-row")


def count_records(lines: bytes) -> int:
    """Return the number of lines beside the header and the end."""
    return lines.count(b"\n") - 2


def tell_imported(done: "ImportOut | models.ImportOut", *, as_json: bool) -> None:
    """Print how much was imported, and which predictions can now be judged."""
    if as_json:
        names = "origin", "jobs", "trials", "kernels", "records", "known", "judged"
        print_json({name: getattr(done, name) for name in names})
        return
    were = "was" if done.known == 1 else "were"
    records = f", and {counted(done.records, 'record')} of other tuners," if done.records else ""
    known = counted(done.known, "line" if done.records else "trial")
    kernels = counted(done.kernels, "kernel")
    print_line(
        f"{counted(done.trials, 'trial')} of {counted(done.jobs, 'job')} with {kernels}{records}"
        f" imported from {done.origin}; {known} {were} here before"
    )
    for device, count in done.judged.items():
        judged = f"{counted(count, 'prediction')} {'is' if count == 1 else 'are'} now compared with a measurement"
        print_line(f"{judged}: `xetune devices show {device}`")


def check_origin(origin: str | None) -> None:
    """Check the name of the place that results are from.

    Raises:
        BadRequest: it is invalid.
    """
    try:
        if origin is not None:
            check_name(origin)
    except ValueError as error:
        raise BadRequest(f"--origin: {error}") from error
