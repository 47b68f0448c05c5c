"""What is stored, as the records of an exchange file."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import KernelConfig
from codegen.decode import decode
from db import jobs, models, predictions, trials
from db.base import utc_now
from db.job_filter import JobFilter
from service.artifacts import ArtifactStore
from service.convert import prediction_from_row
from service.errors import Conflict, NotFound
from service.exchange.records import device_record, job_record, kernel_record, problem_record, trial_record
from tuner.exchange.records import FORMAT, VERSION, CandidateRecord, Header, Record

_OVER = ("succeeded", "failed", "cancelled")
_ALL = 10**9


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results: of a problem (its key), for a device (its id), of one job; None for all."""

    problem_key: str | None = None
    device: str | None = None
    job_id: UUID | None = None


def header(origin: str) -> Header:
    """The first line of a file from `origin`."""
    return Header(FORMAT, VERSION, origin, f"xetune {version('xetune')}", utc_now().isoformat())


def results(
    session: Session, artifacts: ArtifactStore, selection: Selection, said: set[object] | None = None
) -> Iterator[Record]:
    """Jobs that are over with all their trials, and the kernels of those that have a time.

    `said` are names of what the file has already.

    Raises:
        NotFound, Conflict: the job that is asked for is not there, or not over.
        ArtifactMissing, ArtifactDamaged: the binary of a kernel is not there.
    """
    said = set() if said is None else said
    for job in _jobs(session, selection):
        listed = trials.list_page(session, job.id)
        # A measurement that several trials share goes with the one that made it.
        ended = [trial for trial in listed if trial.status != "pending" and trial.reused is None]
        if not ended:
            continue
        yield from _named(job, said)
        best = next((trial.number for trial in ended if trial.id == job.best_trial_id), None)
        yield job_record(job, best)
        for trial in ended:
            record = trial_record(trial)
            kernel = trial.kernel if record.compile_key is not None else None
            if kernel is not None and kernel.id not in said:
                said.add(kernel.id)
                yield kernel_record(kernel, job.problem.key, artifacts)
            yield record


def left_out(session: Session, selection: Selection) -> list[models.Job]:
    """Jobs that `results` passes over: their kernels are of a CPU itself, and files hold those of GPUs."""
    return [] if selection.job_id is not None else [job for job in _over(session, selection) if _is_cpu(job.device)]


def runners_up(session: Session, selection: Selection, limit: int) -> Iterator[Record]:
    """Configurations that are predicted and not measured, the fastest `limit` of each problem and device."""
    if selection.job_id is not None:
        job = _job(session, selection.job_id)
        selection = Selection(job.problem.key, job.device.slug)
    found = predictions.runners_up(session, problem_key=selection.problem_key, device=selection.device)
    said: set[object] = set()

    def place(trial: models.Trial) -> tuple[str, str]:
        return trial.job.problem.key, trial.job.device.slug

    for _, of_place in groupby(sorted(found, key=place), key=place):  # sorted is stable: the fastest stay first
        for trial in list(of_place)[:limit]:
            yield from _named(trial.job, said)
            assert trial.prediction is not None  # it is a runner-up
            yield CandidateRecord(
                problem=trial.job.problem.key,
                device=trial.job.device.slug,
                driver=trial.job.device.driver,
                config=decode(KernelConfig, trial.config),
                prediction=prediction_from_row(trial.prediction),
            )


def _jobs(session: Session, selection: Selection) -> list[models.Job]:
    if selection.job_id is not None:
        return [_job(session, selection.job_id)]
    return [job for job in _over(session, selection) if not _is_cpu(job.device)]


def _over(session: Session, selection: Selection) -> list[models.Job]:
    wanted = JobFilter(_OVER, device=selection.device, problem_key=selection.problem_key)
    return jobs.list_page(session, limit=_ALL, wanted=wanted)[::-1]


def _job(session: Session, job_id: UUID) -> models.Job:
    job = jobs.get(session, job_id)
    if job is None:
        raise NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do")
    if job.status not in _OVER:
        raise Conflict(f"job {job_id} is {job.status}; export it when it is over")
    if _is_cpu(job.device):
        raise Conflict(f"job {job_id} is of the CPU {job.device.slug}; kernels of GPUs are exchanged")
    return job


def _is_cpu(device: models.Device) -> bool:
    """Whether kernels are made for the CPU itself: a stand-in runs those of a GPU."""
    return device.kind == "cpu" and device.emulates is None


def _named(job: models.Job, said: set[object]) -> Iterator[Record]:
    """The device and the problem of a job, unless they were said before."""
    for name, record in ((job.device.id, device_record(job.device)), (job.problem.key, problem_record(job.problem))):
        if name not in said:
            said.add(name)
            yield record
