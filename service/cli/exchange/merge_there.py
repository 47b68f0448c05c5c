"""`xetune --server merge`: the results of another database go to a service, some jobs at a time."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from service.api.exchange.other import Other
from service.api.exchange.schemas import ImportOut
from service.api.exchange.sending import (
    Part,
    There,
    look_at,
    parts_of,
)
from service.cli.backend.chosen import of_service
from service.cli.exchange.lines import counts_of, origin_of
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line
from service.errors import ServiceError, TooLarge
from tuner.exchange.formats import Format

if TYPE_CHECKING:
    from service.cli.backend.remote import Remote


def merge_there(url: str, other: Other, origin: str | None, *, as_json: bool) -> None:
    """Send the results of another database, called this host's unless `origin` says more; say what came and what stays.

    Each request brings all of its jobs or nothing. What broke off is sent again as a whole: nothing comes twice.

    Raises:
        BadRequest: files of its kernels are not where they should be, or the service refuses a line.
        TooLarge: a single job is more than the service takes.
        Unavailable: the service does not answer.
    """
    name, there = origin_of(origin), look_at(other)
    done = _merged(url, other, name, there)
    stays = {"active_jobs": there.active_jobs, "recordings": there.recordings, "shape_sets": there.shape_sets}
    if as_json:
        came = counts_of(done)
        print_json(came | {"stays": stays})
    else:
        _print(done, there)


def _merged(url: str, other: Other, origin: str, there: There) -> ImportOut:
    """What came in all requests together."""
    came, sent = ImportOut(format=Format.JSONL, origin=origin), 0
    trials, kernels = set[tuple[str, int]](), set[tuple[str, str]]()
    with of_service(url) as remote:
        try:
            for part, done in _sent(remote, other, origin, there.job_ids):
                sent += len(part.job_ids)
                trials |= part.trials
                kernels |= part.kernels
                came = _sum(came, done)
        except ServiceError:
            if sent:
                got = f"{sent} of {counted(len(there.job_ids), 'job')} got to {url}"
                print_line(f"{got}; the same command sends the rest", ERRORS)
            raise
    # A trial that others took the time of may have come more than once, and its kernel with it.
    once = {"kernels": min(came.kernels, len(kernels)), "known": len(trials) - came.trials}
    return came.model_copy(update=once)


def _sent(remote: "Remote", other: Other, origin: str, job_ids: Sequence[UUID]) -> Iterator[tuple[Part, ImportOut]]:
    """Each part that the service took; one that is too large for it goes in halves."""
    for part in parts_of(other, origin, job_ids):
        try:
            done = remote.import_results(part.lines, {})
        except TooLarge as refused:
            if len(part.job_ids) < 2:
                of = ", ".join(f"job {job_id}: " for job_id in part.job_ids)
                raise TooLarge(f"{of}{refused.detail}", rule=refused.rule) from refused
            middle = len(part.job_ids) // 2
            for half in (part.job_ids[:middle], part.job_ids[middle:]):
                yield from _sent(remote, other, origin, half)
        else:
            yield part, done


def _sum(came: ImportOut, more: ImportOut) -> ImportOut:
    counts = {name: getattr(came, name) + getattr(more, name) for name in ("jobs", "trials", "kernels")}
    devices = came.judged.keys() | more.judged.keys()
    judged = {device: came.judged.get(device, 0) + more.judged.get(device, 0) for device in sorted(devices)}
    return came.model_copy(update={**counts, "judged": judged})


def _print(done: ImportOut, there: There) -> None:
    came = ", ".join(
        (counted(done.jobs, "job"), counted(done.trials, "trial"), counted(done.kernels, "kernel")),
    )
    print_line(f"merged from {done.origin}: {came}; {counted(done.known, 'trial')} known before")
    if there.active_jobs:
        print_line(f"left alone, not over there: {counted(there.active_jobs, 'job')}")
    if there.recordings:
        print_line(
            f"stays there: {counted(there.recordings, 'recording')}; `xetune export --recording ID --format t4 "
            "-o FILE` writes one, `xetune --server URL import FILE` sends it"
        )
    if there.shape_sets:
        print_line(f"stays there: {counted(there.shape_sets, 'shape set')}; the results of its jobs came")
