"""What another database may send to a service: its results as JSON lines, and what these leave behind."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from db import jobs
from db.merging.merge import needed_artifacts
from db.models import ACTIVE_STATUSES, Recording, ShapeSet
from service.artifacts import ArtifactStore
from service.exchange.exporting import Selection, header, results
from service.exchange.merging import check_files
from service.exchange.other import Other
from tuner.exchange.jsonl import write_lines


@dataclass(frozen=True, slots=True)
class Sent:
    """Results of jobs that are over; and how many jobs that are not, recordings and sets of shapes stay."""

    lines: bytes
    active_jobs: int
    recordings: int
    shape_sets: int


def results_of(other: Other, origin: str) -> Sent:
    """All results of another database, with the files of its kernels, under the name `origin`.

    Raises:
        BadRequest: files of its kernels are not where they should be.
        ArtifactMissing, ArtifactDamaged: the file of a kernel.
        DatabaseError: the database does not answer.
    """
    with other.read() as there:
        needed = needed_artifacts(there)
        check_files(other, needed)
        files = other.artifacts or ArtifactStore(Path())  # without kernels there is none to read
        lines = "".join(write_lines([header(origin), *results(there, files, Selection())])).encode()
        counts = jobs.count_by_status(there)
        recordings, sets = (there.scalar(select(func.count()).select_from(table)) for table in (Recording, ShapeSet))
    active = sum(count for status, count in counts.items() if status in ACTIVE_STATUSES)
    return Sent(lines, active, recordings or 0, sets or 0)
