"""Stored results as records of an exchange file."""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import CodegenError, XeConfig
from codegen.serialization import decode
from db.queries import jobs
from db.queries.jobs import JobFilter
from db.queries.results import kernels, measurement_reuse, predictions, trials
from db.schema.job import Job as JobRow
from db.schema.trial import Trial as TrialRow
from db.values import utc_now
from service.api.exchange.records import (
    device_record,
    job_record,
    kernel_record,
    problem_record,
    trial_record,
)
from service.artifacts import ArtifactStore
from service.errors import Conflict, NotFound
from service.row_mapping import prediction_from_row
from tuner.exchange.records import FORMAT, VERSION, CandidateRecord, Header, Record

_OVER = ("succeeded", "failed", "cancelled")
_HEADER = "kernel.h"


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of results by problem key, device id and job; None selects all."""

    problem_key: str | None = None
    device: str | None = None
    job_id: UUID | None = None


def header(origin: str) -> Header:
    """Return the first line of a file from `origin`."""
    return Header(FORMAT, VERSION, origin, f"xetune {version('xetune')}", utc_now().isoformat())


def results(
    session: Session, artifacts: ArtifactStore, selection: Selection, said: set[object] | None = None
) -> Iterator[Record]:
    """Yield jobs that are over with all their trials, and the kernels of trials with a time.

    Trials that reuse the time of another job come last, together with that job; they are left out while that
    job is running. `said` are names of records that the file has already.

    Raises:
        NotFound, Conflict: the requested job does not exist, or is not over.
        Conflict: rule `unreadable-row`: a row was stored by another version, or changed since.
        ArtifactMissing, ArtifactDamaged: the binary of a kernel is missing or damaged.
    """
    said = set() if said is None else said
    waiting, taken = deque(over_jobs(session, selection)), list[tuple[JobRow, TrialRow]]()
    while waiting:
        job = waiting.popleft()
        ended = [trial for trial in trials.list_page(session, job.id) if trial.status != "pending"]
        if not ended or job.id in said:
            continue
        said.add(job.id)
        best = next((trial.number for trial in ended if trial.id == job.best_trial_id), None)
        with _readable(f"job {job.id}"):
            of_job = [*_named(job, said), job_record(job, best)]
        yield from of_job
        yield from _trials(session, [(job, trial) for trial in ended if trial.reused is None], said, artifacts)
        taken += [(job, trial) for trial in ended if trial.reused is not None]
        sources = {trial.reused.source.job_id for trial in ended if trial.reused is not None} - said
        waiting.extend(source for id in sorted(sources) if (source := jobs.get(session, id)) and source.status in _OVER)
    with_source = [each for each in taken if (reused := each[1].reused) is not None and reused.source.job_id in said]
    yield from _trials(session, with_source, said, artifacts)


def file_hashes(session: Session, selection: Selection) -> list[str]:
    """Return the SHA-256 of the files that `results` reads.

    Raises:
        NotFound, Conflict: the requested job does not exist, or is not over.
    """
    found, new = set[UUID](), {job.id for job in over_jobs(session, selection)}
    while new:
        found |= new
        new = kernels.source_jobs(session, sorted(new)) - found
    return kernels.file_hashes(session, sorted(found), _HEADER)


def runners_up(session: Session, selection: Selection, limit: int) -> Iterator[Record]:
    """Yield configurations that are predicted but not measured: the fastest `limit` of each problem and device."""
    if selection.job_id is not None:
        job = find_over(session, selection.job_id)
        selection = Selection(job.problem.key, job.device.slug)
    found = predictions.runners_up(session, problem_key=selection.problem_key, device=selection.device)
    said: set[object] = set()

    def place(trial: TrialRow) -> tuple[str, str]:
        return trial.job.problem.key, trial.job.device.slug

    for _, of_place in groupby(sorted(found, key=place), key=place):  # sorted is stable: the fastest stay first
        for trial in list(of_place)[:limit]:
            assert trial.prediction is not None  # it is a runner-up
            with _readable(f"trial {trial.number} of job {trial.job_id}"):
                named = list(_named(trial.job, said))
                candidate = CandidateRecord(
                    problem=trial.job.problem.key,
                    device=trial.job.device.slug,
                    driver=trial.job.device.driver,
                    config=decode(XeConfig, trial.config),
                    prediction=prediction_from_row(trial.prediction),
                )
            yield from named
            yield candidate


def over_jobs(session: Session, selection: Selection) -> list[JobRow]:
    """Return the jobs that are over, oldest first.

    Raises:
        NotFound, Conflict: the job that is asked for is not there, or not over.
    """
    if selection.job_id is not None:
        return [find_over(session, selection.job_id)]
    return jobs.matching(session, JobFilter(_OVER, device=selection.device, problem_key=selection.problem_key))


def find_over(session: Session, job_id: UUID) -> JobRow:
    """Return a job that is over.

    Raises:
        NotFound, Conflict: it is not there, or not over.
    """
    job = jobs.get(session, job_id)
    if job is None:
        raise NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do")
    if job.status not in _OVER:
        raise Conflict(f"job {job_id} is {job.status}; export it when it is over")
    return job


def _trials(
    session: Session, ended: Sequence[tuple[JobRow, TrialRow]], said: set[object], artifacts: ArtifactStore
) -> Iterator[Record]:
    """Yield trials of jobs, each after its kernel unless that was written before."""
    ids = {trial.kernel_id for _, trial in ended if trial.kernel_id is not None} - said
    headers = kernels.hashes_of_files(session, ids, _HEADER)
    keys = measurement_reuse.keys_of_kernels(session, ids)
    for job, trial in ended:
        with _readable(f"trial {trial.number} of job {job.id}"):
            record = trial_record(trial)
        kernel = trial.kernel if record.compile_key is not None else None
        if kernel is not None and kernel.id not in said:
            said.add(kernel.id)
            with _readable(f"kernel {kernel.id}"):
                of_kernel = kernel_record(
                    kernel, job.problem.key, artifacts, headers.get(kernel.id), keys.get(kernel.id)
                )
            yield of_kernel
        yield record


@contextmanager
def _readable(what: str) -> Generator[None]:
    """Name the row that cannot be read.

    Raises:
        Conflict: rule `unreadable-row`.
    """
    try:
        yield
    except (CodegenError, ValueError) as error:
        why = str(error).removeprefix(": ")
        message = f"{what} cannot be read: {why}; it was stored by another version, or changed since"
        raise Conflict(message, rule="unreadable-row") from error


def _named(job: JobRow, said: set[object]) -> Iterator[Record]:
    """Yield the device and the problem of a job, unless they were written before."""
    for name, record in ((job.device.id, device_record(job.device)), (job.problem.key, problem_record(job.problem))):
        if name not in said:
            said.add(name)
            yield record
