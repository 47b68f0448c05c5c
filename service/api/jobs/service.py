"""Jobs and trials as the wire says them, read from their rows."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from db.queries import (
    jobs,
    leases,
    trials,
    warm_starts,
)
from db.schema import (
    Donor,
    ImportedDonor,
    Job,
    Problem,
    RecordedDonor,
    Reuse,
    Trial,
)
from db.schema.base import JsonObject
from service.api.jobs.schemas import (
    BudgetOut,
    Comparison,
    DonorOut,
    JobKind,
    JobLinks,
    JobOut,
    JobStatus,
    ReusedOut,
    TrialOut,
    TrialStatus,
    WallTimeOut,
)
from service.configurations import to_config_body
from service.errors import NotFound
from service.evidence import evidence_of, foretold, measured_of, measuring_trial, prediction_error, tflops
from service.job_time import headline_of
from service.row_mapping import objective_of
from service.schemas import ProblemBody


def job_path(job_id: UUID) -> str:
    """Where a job is."""
    return f"/v1/jobs/{job_id}"


def read_job(session: Session, job_id: UUID) -> JobOut:
    """A job with its progress.

    Raises:
        NotFound: there is none.
    """
    return describe(session, find_job(session, job_id))


def cancel(session: Session, job_id: UUID) -> JobOut:
    """Ask a job to stop; one that is over stays as it is.

    Raises:
        NotFound: there is no such job.
    """
    job = leases.request_cancel(session, job_id)
    if job is None:
        raise _no_job(job_id)
    return describe(session, job)


def describe(session: Session, job: Job) -> JobOut:
    """A job as the wire says it."""
    return describe_all(session, [job])[0]


def describe_all(session: Session, rows: Sequence[Job]) -> list[JobOut]:
    """Jobs as the wire says them, in as many queries as for one."""
    ids = [job.id for job in rows]
    counts, kinds = trials.count_by_status_of(session, ids), jobs.kinds(session, ids)
    donors_of: defaultdict[UUID, list[DonorOut]] = defaultdict(list)
    for donor in warm_starts.of_jobs(session, ids):
        donors_of[donor.job_id].append(_donor(donor))
    return [_describe(job, counts[job.id], JobKind(kinds[job.id]), donors_of[job.id]) for job in rows]


def _describe(job: Job, counts: dict[str, int], kind: JobKind, began_with: list[DonorOut]) -> JobOut:
    path = job_path(job.id)
    best = None if job.best_trial is None else describe_trial(job.best_trial, job.problem)
    return JobOut(
        id=job.id,
        status=JobStatus(job.status),
        kind=kind,
        retry_of=None if job.retry is None else job.retry.of_job_id,
        problem=ProblemBody.model_validate(job.problem.definition),
        device=job.device.slug,
        origin=None if job.imported is None else job.imported.origin,
        budget=_budget(job),
        seed=job.seed,
        search=None if job.search is None else job.search.method,
        objective=objective_of(job.search),
        cancel_requested=job.cancel_requested,
        attempts=job.attempts,
        error=job.error,
        counts=counts,
        stop=None if job.stop is None or not JobStatus(job.status).over else job.stop.reason,
        done=sum(number for status, number in counts.items() if status != "pending"),
        best=best,
        basis=None if best is None else _basis(job, best),
        comparison=_comparison(job),
        wall=wall_of(job),
        reuse=job.start is None or not job.start.again,
        warm_start=job.start is None or not job.start.cold,
        donors=began_with,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        links=JobLinks(
            self=path,
            trials=f"{path}/trials",
            events=f"{path}/events",
            cancel=f"{path}/cancel",
            retry=f"{path}/retry",
        ),
    )


def wall_of(job: Job) -> WallTimeOut | None:
    """What a job's time went to; None before a run of it ended."""
    return None if job.effort is None else WallTimeOut.model_validate(job.effort, from_attributes=True)


def _budget(job: Job) -> BudgetOut:
    search = job.search
    return BudgetOut(
        trials=job.budget_trials,
        seconds=job.budget_seconds,
        no_gain=None if search is None else search.no_gain,
        roofline=None if search is None else search.roofline,
    )


def _comparison(job: Job) -> Comparison | None:
    default_us, best_us = job.compared_default_us, job.compared_best_us
    if default_us is None or best_us is None:
        return None
    return Comparison(default_us=default_us, best_us=best_us, speedup=default_us / best_us)


def _basis(job: Job, best: TrialOut) -> str | None:
    time, again = best.evidence.time, (job.compared_default_us, job.compared_best_us)
    return None if time is None else headline_of(time, None, in_turns=again).basis.word


def describe_trial(trial: Trial, problem: Problem) -> TrialOut:
    """A trial of a problem as the wire says it."""
    evidence, by = evidence_of(trial), measuring_trial(trial)
    return TrialOut(
        number=trial.number,
        status=TrialStatus(trial.status),
        reason=trial.reason,
        config=to_config_body(trial.config),
        proposer=trial.proposer,
        evidence=evidence,
        tflops=tflops(problem, evidence),
        predicted=foretold(trial),
        measured=measured_of(trial),
        measured_by=None if by is None or by.job_id == trial.job_id else by.job_id,
        prediction_error=prediction_error(trial),
        kernel_id=trial.kernel_id,
        reused=None if trial.reused is None else _reused(trial.reused),
        compile_s=trial.compile_s,
        verify_s=trial.verify_s,
        measure_s=trial.measure_s,
        begun_at=trial.begun_at,
        ended_at=trial.ended_at,
    )


def _donor(donor: warm_starts.Beginning) -> DonorOut:
    job, recording = None, None
    match donor:
        case Donor():
            of, source = donor.source, donor.source.job
            trial, definition, device, job = of.number, source.problem.definition, source.device.slug, of.job_id
        case RecordedDonor():
            of, source = donor.source, donor.source.recording
            trial, definition, device, recording = of.number, source.problem.definition, source.device.slug, source.id
        case ImportedDonor():
            trial, definition, device, job = donor.number, donor.definition, donor.device, donor.source_job
    return DonorOut(
        job=job,
        recording=recording,
        trial=trial,
        problem=_problem(definition),
        device=device,
        distance=donor.distance,
    )


def _problem(definition: JsonObject) -> ProblemBody | JsonObject:
    try:
        return ProblemBody.model_validate(definition)
    except ValidationError:  # of another version
        return definition


def _reused(reused: Reuse) -> ReusedOut:
    return ReusedOut(job=reused.source.job_id, trial=reused.source.number, scale=reused.scale)


def find_job(session: Session, job_id: UUID) -> Job:
    """The row of a job.

    Raises:
        NotFound: there is none.
    """
    if (job := jobs.get(session, job_id)) is None:
        raise _no_job(job_id)
    return job


def _no_job(job_id: UUID) -> NotFound:
    return NotFound(f"job {job_id} does not exist; GET /v1/jobs lists those that do")
