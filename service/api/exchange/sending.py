"""What another database may send to a service: its results as JSON lines, and what these leave behind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy import func, select

from db.merging.merge import needed_artifacts
from db.queries import jobs
from db.schema import (
    ACTIVE_STATUSES,
    Recording,
    ShapeSet,
)
from service.api.exchange.exporting import (
    Selection,
    header,
    over_jobs,
    results,
)
from service.api.exchange.merging import check_files
from service.api.exchange.other import Other
from service.artifacts import ArtifactStore
from tuner.exchange.jsonl import write_lines
from tuner.exchange.records import KernelRecord, TrialRecord

_PART_BYTES = 8 * 2**20  # far below what a service takes by default, and much beside a request's own cost


@dataclass(frozen=True, slots=True)
class There:
    """The jobs that are over, oldest first; and how many that are not, recordings and sets of shapes stay."""

    job_ids: tuple[UUID, ...]
    active_jobs: int
    recordings: int
    shape_sets: int


@dataclass(frozen=True, slots=True)
class Part:
    """All results of some jobs as a file of its own, with the jobs whose times they took.

    `trials` are those that are in it, by job and number, and `kernels` by what they were made from and their hash.
    """

    job_ids: tuple[UUID, ...]
    lines: bytes
    trials: frozenset[tuple[str, int]]
    kernels: frozenset[tuple[str, str]]


def look_at(other: Other) -> There:
    """What another database has.

    Raises:
        BadRequest: files of its kernels are not where they should be.
        DatabaseError: the database does not answer.
    """
    with other.read() as there:
        check_files(other, needed_artifacts(there))
        counts = jobs.count_by_status(there)
        recordings, sets = (there.scalar(select(func.count()).select_from(table)) for table in (Recording, ShapeSet))
        ids = tuple(job.id for job in over_jobs(there, Selection()))
    active = sum(count for status, count in counts.items() if status in ACTIVE_STATUSES)
    return There(ids, active, recordings or 0, sets or 0)


def parts_of(other: Other, origin: str, job_ids: Sequence[UUID]) -> Iterator[Part]:
    """Results of jobs with the files of their kernels, under the name `origin`; at least one part, if need be empty.

    A part ends with the job that makes it large. The database is not held while one is looked at.

    Raises:
        NotFound: a job was deleted meanwhile.
        ArtifactMissing, ArtifactDamaged: the file of a kernel.
        DatabaseError: the database does not answer.
    """
    start = 0
    while start < len(job_ids) or start == 0:
        part = _part(other, origin, job_ids[start:])
        yield part
        start += max(len(part.job_ids), 1)


def _part(other: Other, origin: str, job_ids: Sequence[UUID]) -> Part:
    files = other.artifacts or ArtifactStore(Path())  # without kernels there is none to read
    lines = bytearray("".join(write_lines([header(origin)])).encode())
    taken, said = list[UUID](), set[object]()
    trials, kernels = set[tuple[str, int]](), set[tuple[str, str]]()
    with other.read() as there:
        for job_id in job_ids:
            for record in results(there, files, Selection(job_id=job_id), said):
                if isinstance(record, TrialRecord):
                    trials.add((record.job, record.number))
                elif isinstance(record, KernelRecord):
                    kernels.add((record.compile_key, record.content_hash))
                for line in write_lines([record]):
                    lines += line.encode()
            taken.append(job_id)
            if len(lines) >= _PART_BYTES:
                break
    return Part(tuple(taken), bytes(lines), frozenset(trials), frozenset(kernels))
