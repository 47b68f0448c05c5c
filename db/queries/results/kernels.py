"""Queries on kernels: compiled binaries, and the best one for a problem and device."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NotRequired, TypedDict, TypeVar, Unpack
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, delete, or_, select, update
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from db.queries.batch import Answer, Batch, batch
from db.queries.insert import insert_all_missing, insert_one_missing
from db.queries.results import headline, trials
from db.schema.base import table_of
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.reuse import Reuse
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, PredictionError, Trial
from db.values import JsonObject

_AT_ONCE = 500  # in one query
T = TypeVar("T")
Winners = dict[str, list[Trial]]
"""Winners of jobs, by the keys of their problems."""


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A file of a kernel; `sha256` names its bytes, which must already be stored."""

    name: str
    sha256: str
    size: int
    media_type: str


class KernelColumns(TypedDict):
    """Columns of a kernel. `origin` names where it was compiled; None: here."""

    problem_id: int
    device_id: int
    target: str
    config: JsonObject
    config_hash: str
    compile_key: str
    content_hash: str
    manifest: JsonObject
    toolchain: JsonObject
    origin: NotRequired[str | None]


def upsert(session: Session, *, files: Iterable[ArtifactFile], **columns: Unpack[KernelColumns]) -> UUID:
    """Add the kernel of that binary on that device, and its files, where they are missing; return its id."""
    session.flush()
    connection = session.connection()
    with batch(connection) as first:
        added = add(first, columns)
    kernel_id = id_of(connection, added, columns)
    with batch(connection) as rest:
        add_files(rest, kernel_id, files)
    return kernel_id


def add(batch: Batch, columns: KernelColumns) -> Answer:
    """Add a kernel unless it is there; `id_of` takes the answer."""
    return insert_one_missing(batch, Kernel, columns)


def id_of(connection: Connection, added: Answer, columns: KernelColumns) -> UUID:
    """Return the id of a kernel that was to be added.

    Compiling it here replaces what an import said of it: its manifest may have another launch than the one that is
    verified here.
    """
    if (new := added.first()) is not None:
        return new[0]
    same, imported = _identity_statements()
    kernel_id = connection.scalar(same, {**columns})
    assert isinstance(kernel_id, UUID)
    if columns.get("origin") is None and connection.execute(imported, {"kernel_id": kernel_id}).first() is not None:
        kernel = table_of(Kernel)
        connection.execute(update(kernel).where(kernel.c.id == kernel_id).values({"origin": None, **columns}))
        connection.execute(delete(table_of(Artifact)).where(Artifact.kernel_id == kernel_id))
    return kernel_id


def add_files(batch: Batch, kernel_id: UUID, files: Iterable[ArtifactFile]) -> None:
    """Add the files of a kernel that it does not have."""
    rows = [{"name": f.name, "sha256": f.sha256, "size": f.size, "media_type": f.media_type} for f in files]
    insert_all_missing(batch, Artifact, [{"kernel_id": kernel_id, **row} for row in rows])


@cache
def _identity_statements() -> tuple[Select[UUID], Select[UUID]]:
    """Return the query of a kernel's id, and that of a kernel with this id that was imported."""
    same = select(Kernel.id).where(
        Kernel.device_id == bindparam("device_id"),
        Kernel.compile_key == bindparam("compile_key"),
        Kernel.content_hash == bindparam("content_hash"),
    )
    return same, select(Kernel.id).where(Kernel.id == bindparam("kernel_id"), Kernel.origin.is_not(None))


def get(session: Session, kernel_id: UUID) -> Kernel | None:
    """Return a kernel with its problem, device and list of files."""
    return session.scalars(_whole().where(Kernel.id == kernel_id)).first()


def is_winner() -> ColumnElement[bool]:
    """Return the condition that a kernel is that of the best trial of a job: what lists of kernels lead with."""
    best = select(Trial.id).join(Job, (Job.id == Trial.job_id) & (Job.best_trial_id == Trial.id))
    return best.where(Trial.kernel_id == Kernel.id).correlate(Kernel).exists()


def winners_of(session: Session, kernel_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the kernels that won a job."""
    return set(session.scalars(select(Kernel.id).where(Kernel.id.in_(kernel_ids), is_winner())))


def with_contents(session: Session, content_hashes: Collection[str]) -> list[Kernel]:
    """Return the kernels with one of these binaries, with problem and device."""
    found: list[Kernel] = []
    for some in parts(sorted(content_hashes)):
        found += session.scalars(_whole().where(Kernel.content_hash.in_(some)).order_by(Kernel.id))
    return found


def verified_here(session: Session, content_hashes: Collection[str]) -> list[Kernel]:
    """Return the kernels with one of these binaries whose results a job of this database verified itself."""
    of_job = select(Trial.kernel_id).join(Trial.job).where(Job.origin.is_(None), ~Trial.reused.has())
    right = of_job.where(Trial.status.in_(("measured", "predicted")), Trial.proof_kind != "none")
    found: list[Kernel] = []
    for some in parts(sorted(content_hashes)):
        found += session.scalars(select(Kernel).where(Kernel.content_hash.in_(some), Kernel.id.in_(right)))
    return found


def file_hashes(session: Session, job_ids: Sequence[UUID], name: str) -> list[str]:
    """Return the SHA-256 of the binaries of kernels that jobs have trials of, and of their files of a name."""
    found: set[str] = set()
    for some in parts(job_ids):
        of_jobs = select(Trial.kernel_id).where(Trial.job_id.in_(some))
        found.update(session.scalars(select(Kernel.content_hash).where(Kernel.id.in_(of_jobs))))
        found.update(
            session.scalars(select(Artifact.sha256).where(Artifact.kernel_id.in_(of_jobs), Artifact.name == name))
        )
    return sorted(found)


def source_jobs(session: Session, job_ids: Sequence[UUID]) -> set[UUID]:
    """Return the jobs that measured times which trials of these jobs reuse."""
    found: set[UUID] = set()
    for some in parts(job_ids):
        of_jobs = select(Trial.id).where(Trial.job_id.in_(some))
        source = select(Trial.job_id).join(Reuse, Reuse.source_trial_id == Trial.id)
        found.update(session.scalars(source.where(Reuse.trial_id.in_(of_jobs)).distinct()))
    return found


def parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in parts that one query can name."""
    for first in range(0, len(values), _AT_ONCE):
        yield values[first : first + _AT_ONCE]


def jobs_with(session: Session, kernel_id: UUID) -> list[UUID]:
    """Return the jobs that have a trial of a kernel, or one whose prediction a measurement of it judges."""
    of_kernel = Trial.kernel_id == kernel_id
    judged = select(PredictionError.trial_id).where(
        PredictionError.measured_trial_id.in_(select(Trial.id).where(of_kernel))
    )
    return list(session.scalars(select(Trial.job_id).where(or_(of_kernel, Trial.id.in_(judged))).distinct()))


def artifact(session: Session, kernel_id: UUID, name: str) -> Artifact | None:
    """Return a file of a kernel by its name."""
    return session.scalars(select(Artifact).where(Artifact.kernel_id == kernel_id, Artifact.name == name)).first()


def hashes_of_files(session: Session, kernel_ids: Collection[UUID], name: str) -> dict[UUID, str]:
    """Return the SHA-256 of a file of each kernel by its name; kernels without it are left out."""
    found: dict[UUID, str] = {}
    for some in parts(sorted(kernel_ids)):
        query = select(Artifact.kernel_id, Artifact.sha256).where(Artifact.kernel_id.in_(some), Artifact.name == name)
        found.update(dict(session.execute(query).all()))
    return found


def artifact_by_hash(session: Session, sha256: str) -> Artifact | None:
    """Return the first file with those bytes."""
    return session.scalars(select(Artifact).where(Artifact.sha256 == sha256).order_by(Artifact.id).limit(1)).first()


def list_page(
    session: Session,
    *,
    limit: int,
    before: UUID | None = None,
    device: str | None = None,
    problem_key: str | None = None,
) -> list[Kernel]:
    """Return the newest kernels, at most `limit`, older than `before`; `device` is a slug."""
    query = _whole().order_by(Kernel.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Kernel.id < before)
    if device is not None:
        query = query.where(Kernel.device_id.in_(select(Device.id).where(Device.slug == device)))
    if problem_key is not None:
        query = query.where(Kernel.problem_id.in_(select(Problem.id).where(Problem.key == problem_key)))
    return list(session.scalars(query))


def winners(session: Session, problem_keys: Collection[str], device: str) -> tuple[Winners, Winners]:
    """Return the winners of jobs on that device (a slug) by problem: the measured ones, the least headline time first,
    and the predicted ones, the best first, then by predicted time.
    """
    query = select(Problem.key, Trial).join(Trial.kernel).join(Trial.job).join(Job.device).join(Job.problem)
    query = query.outerjoin(Trial.measurement).outerjoin(Trial.prediction)
    query = query.where(Problem.key.in_(problem_keys), Device.slug == device, Job.best_trial_id == Trial.id)
    has_time = or_(Measurement.median_us.is_not(None), Trial.status == "predicted")
    query = query.where(Kernel.withdrawn.is_(None), has_time)
    predicted_us = case((Measurement.median_us.is_(None), Prediction.time_us))
    query = query.order_by(headline.least_first(), predicted_us, Trial.id)
    kernel = contains_eager(Trial.kernel)
    of_kernel = (kernel.selectinload(each) for each in (Kernel.artifacts, Kernel.device, Kernel.problem))
    loads = (*trials.time_loads(are_joined=True), trials.job_load(is_joined=True), *of_kernel)
    measured, predicted = Winners(), Winners()
    for key, trial in session.execute(query.options(*loads)):
        (predicted if trial.measurement is None else measured).setdefault(key, []).append(trial)
    for rows in predicted.values():
        best = trials.best_of_predicted(rows)
        rows.remove(best)
        rows.insert(0, best)
    return measured, predicted


def evidence(session: Session, kernel_ids: Iterable[UUID], *, judges: bool = False) -> dict[UUID, Trial]:
    """Return for each kernel its trial of least headline time, else of least predicted time, with its job.

    Others are left out. Of predicted trials, verified ones come first. `judges` loads the trials that judge
    predictions.
    """
    query = select(Trial).where(Trial.kernel_id.in_(kernel_ids)).join(Trial.job)
    query = query.outerjoin(Trial.measurement).outerjoin(Trial.prediction)
    timed = query.where(or_(Measurement.median_us.is_not(None), Prediction.time_us.is_not(None)))
    timed = timed.options(*trials.time_loads(are_joined=True), trials.job_load(is_joined=True))
    if judges:
        timed = timed.options(*trials.judge_loads(are_joined=True))
    # The last entry in the dictionary wins: predicted trials first, then measured ones, each slowest first.
    last_wins = timed.order_by(
        Measurement.median_us.is_not(None),
        headline.least_first().desc(),
        Trial.proof_kind != "none",
        Prediction.time_us.desc(),
        Trial.id.desc(),
    )
    return {trial.kernel_id: trial for trial in session.scalars(last_wins) if trial.kernel_id is not None}


def telling_trials(session: Session, kernel_ids: Collection[UUID], *, judges: bool = False) -> dict[UUID, Trial]:
    """Return for each kernel its best timed trial, or its latest, which states why it has no time.

    `judges` loads the trials that judge predictions, whose times pages show.
    """
    timed = evidence(session, kernel_ids, judges=judges) if kernel_ids else {}
    if not (untimed := [kernel_id for kernel_id in kernel_ids if kernel_id not in timed]):
        return timed
    query = select(Trial).where(Trial.kernel_id.in_(untimed), Trial.ended_at.is_not(None)).order_by(Trial.id)
    found = session.scalars(query.options(*trials.time_loads(), trials.job_load()))
    latest = {trial.kernel_id: trial for trial in found if trial.kernel_id is not None}
    return latest | timed


def _whole() -> Select[Kernel]:
    columns = Kernel.problem, Kernel.device
    return select(Kernel).options(*(joinedload(column) for column in columns), selectinload(Kernel.artifacts))
