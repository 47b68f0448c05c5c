"""JSON lines at the command line: read, written, and what taking them in did."""

import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from service.api.exchange.exporting import header
from service.api.exchange.importing import Imported
from service.api.exchange.schemas import ImportOut
from service.cli.printing.counted import counted
from service.cli.printing.output import print_json, print_line
from service.errors import BadRequest, NotFound
from service.files import write_atomically
from tuner.exchange.jsonl import Exchange, read_lines, write_lines
from tuner.exchange.records import Record, check_name


def read_file(file: Path) -> Exchange:
    """The lines of a file.

    Raises:
        InvalidLine: one is not what it should be.
    """
    with file.open("rb") as stream:
        return read_lines(stream)


def lines_of(records: Iterable[Record], origin: str | None) -> bytes:
    """Records as lines after their header, from `origin` or else this host.

    Raises:
        BadRequest: the name cannot be.
    """
    return "".join(write_lines([header(origin_of(origin)), *records])).encode()


def write(lines: bytes, output: Path | None, *, chosen: bool = False) -> None:
    """Write lines where they are to go, and say how many records they are if that is a file.

    Raises:
        NotFound: results were `chosen`, and there is nothing beside the header.
    """
    if chosen and lines.count(b"\n") < 2:
        raise NotFound(
            "nothing is known of what was asked for, and nothing written; `xetune jobs` lists what was tuned"
        )
    if output is None:
        sys.stdout.write(lines.decode())
        return
    write_atomically(output, lines)
    print_line(f"{lines.count(bytes([10])) - 1} records written to {output}")


def counts_of(done: Imported | ImportOut) -> dict[str, object]:
    """What came and what was judged by it, for programs."""
    return {name: getattr(done, name) for name in ("origin", "jobs", "trials", "kernels", "known", "judged")}


def tell_imported(done: Imported | ImportOut, *, as_json: bool) -> None:
    """Say what came, and what was judged by it."""
    if as_json:
        print_json(counts_of(done))
        return
    were = "was" if done.known == 1 else "were"
    print_line(
        f"{counted(done.trials, 'trial')} of {counted(done.jobs, 'job')} with {counted(done.kernels, 'kernel')} "
        f"imported from {done.origin}; {counted(done.known, 'trial')} {were} here before"
    )
    for device, count in done.judged.items():
        said = f"{counted(count, 'prediction')} {'is' if count == 1 else 'are'} now judged by a measurement"
        print_line(f"{said}: `xetune devices show {device}`")


def origin_of(origin: str | None) -> str:
    """The name that was given to the place, else this host's.

    Raises:
        BadRequest: it cannot be.
    """
    name = socket.gethostname() if origin is None else origin
    check_origin(name)
    return name


def check_origin(origin: str) -> None:
    """Return when a place may be called so.

    Raises:
        BadRequest: it may not.
    """
    try:
        check_name("--origin", origin)
    except ValueError as error:
        raise BadRequest(str(error)) from error
