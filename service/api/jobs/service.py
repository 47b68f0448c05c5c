"""Jobs and trials as response models."""

from collections.abc import Collection, Mapping, Sequence
from typing import cast
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from db.queries import jobs
from db.queries.results import headline, trials
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.schema.target import Problem
from db.schema.trial import Trial
from db.values import JsonObject
from service.api.audit.log import record
from service.api.jobs.schemas import (
    BudgetBody,
    ChoiceOut,
    Comparison,
    DonorOut,
    JobKind,
    JobLinks,
    JobOptions,
    JobOut,
    RestrictionOut,
    ReusedOut,
    StoredBest,
    TrialOut,
    TrialStatus,
    WallTimeOut,
)
from service.api.jobs.status import JobStatus
from service.api.keys.caller import Caller
from service.configurations import to_config_body
from service.errors import NotFound
from service.evidence import evidence_of, foretold, measured_of, measuring_trial, prediction_error, roof_us, tflops
from service.job_summary import Choice, ReportedTimes, reported_times_of
from service.schemas import ProblemBody


def job_path(job_id: UUID) -> str:
    """Return the path of a job."""
    return f"/v1/jobs/{job_id}"


def read_job(session: Session, job_id: UUID) -> JobOut:
    """Return a job with its progress.

    Raises:
        NotFound: there is none.
    """
    return describe(session, find_job(session, job_id))


def cancel(session: Session, job_id: UUID, by: Caller, *, roofs: bool = True) -> JobOut:
    """Cancel a job, with an event of the audit log; one that is over is not changed. `roofs` as for `describe_all`.

    Raises:
        NotFound: there is no such job.
    """
    # Imported here: a list of jobs needs no tables of sets of shapes.
    from db.queries.cluster import leases

    job = leases.request_cancel(session, job_id)
    if job is None:
        raise _no_job(job_id)
    record(session, by, "job.cancel", job_id)
    return describe(session, job, roofs=roofs)


def describe(session: Session, job: Job, *, roofs: bool = True) -> JobOut:
    """Convert a job to its response model, as `describe_all`."""
    return describe_all(session, [job], roofs=roofs)[0]


def describe_all(session: Session, rows: Sequence[Job], *, roofs: bool = True) -> list[JobOut]:
    """Convert jobs to their response models with as many queries as for one.

    Without `roofs`, which import rules of the compiler, `roof_us` is None.
    """
    ids = [job.id for job in rows]
    counts, kinds = trials.count_by_status_of(session, ids), jobs.kinds(session, ids)
    digests = {str(each["recording"]) for job in rows for each in job.warm_starts or () if each["recording"]}
    recorded = _recorded(session, digests) if digests else {}
    chosen = choices(session, {job.id: best for job in rows if (best := _predicted(job)) is not None})
    stored = headline.best_stored(session, {(job.problem_id, job.device.slug) for job in rows if job.best_trial})
    found = [
        _describe(job, counts[job.id], JobKind(kinds[job.id]), recorded, chosen.get(job.id), roofs=roofs)
        for job in rows
    ]
    return [
        made.model_copy(update={"stored_best": _stored_best(job, made, stored)})
        for job, made in zip(rows, found, strict=True)
    ]


def _recorded(session: Session, digests: Collection[str]) -> dict[str, UUID]:
    # Imported here: few jobs were started with configurations of a recording.
    from db.queries import recordings

    return recordings.ids_of(session, digests)


def _stored_best(job: Job, made: JobOut, stored: Mapping[tuple[int, str, str], headline.Stored]) -> StoredBest | None:
    """Return the best stored result of the same kind of measurement, if the job's is clearly slower."""
    time = None if made.best is None else made.best.evidence.time
    if time is None or made.time_us is None or time.kind == "predicted":
        return None
    best = stored.get((job.problem_id, job.device.slug, time.label))
    if best is None or best.job_id == job.id or made.time_us <= best.time_us * headline.NEAR:
        return None
    basis = "interleaved" if best.interleaved else "single"
    slowdown = made.time_us / best.time_us
    return StoredBest(job=best.job_id, kernel_id=best.kernel_id, time_us=best.time_us, basis=basis, slowdown=slowdown)


def choices(session: Session, predicted: Mapping[UUID, tuple[int, float]]) -> dict[UUID, ChoiceOut]:
    """Return why the best trial of a tie is that, of the jobs in which others tie with it.

    `predicted` has the number and the predicted time, in us, of the best trials that are not measured, by job.
    """
    found = trials.ties(session, predicted) if predicted else {}
    return {job_id: _choice(*predicted[job_id], tie) for job_id, tie in found.items() if tie.trials > 1}


def _choice(number: int, time_us: float, tie: trials.Tie) -> ChoiceOut:
    choice = Choice(number, tie.fastest, time_us / tie.least_us, tie.trials)
    return ChoiceOut(
        rule=choice.rule,
        trials=choice.trials,
        fastest=choice.fastest,
        least_us=tie.least_us,
        gain=choice.gain,
        resolution=trials.RESOLUTION,
        sentence=choice.sentence,
    )


def _predicted(job: Job) -> tuple[int, float] | None:
    best = job.best_trial
    if best is None or best.prediction is None or measured_of(best) is not None:
        return None
    return best.number, best.prediction.time_us


def _describe(
    job: Job,
    counts: dict[str, int],
    kind: JobKind,
    recorded: Mapping[str, UUID],
    choice: ChoiceOut | None,
    *,
    roofs: bool,
) -> JobOut:
    path = job_path(job.id)
    best = None if job.best_trial is None else describe_trial(job.best_trial, job.problem)
    reported = None if best is None else _reported(job, best)
    return JobOut(
        id=job.id,
        status=JobStatus(job.status),
        kind=kind,
        builds=job.kernel_id,
        retry_of=job.retry_of,
        problem=ProblemBody.model_validate(job.problem.definition),
        device=job.device.slug,
        origin=job.origin,
        cancel_requested=job.cancel_requested,
        attempts=job.attempts,
        error=job.error,
        counts=counts,
        stop=job.stop if JobStatus(job.status).over else None,
        done=sum(number for status, number in counts.items() if status != "pending"),
        best=best,
        basis=None if reported is None else reported.basis.word,
        time_us=None if reported is None else reported.best_us,
        roof_us=roof_us(job.problem, job.device) if roofs else None,
        comparison=_comparison(job),
        choice=choice,
        wall=wall_of(job),
        donors=[_donor(each, recorded) for each in job.warm_starts or ()],
        restrictions=describe_restrictions(job),
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
        **dict(describe_options(job)),
    )


def wall_of(job: Job) -> WallTimeOut | None:
    """Return the wall time of a job by phase; None until a run of it ended."""
    return None if job.total_s is None else WallTimeOut.model_validate(job, from_attributes=True)


def describe_options(job: Job) -> JobOptions:
    """Return the options of a job.

    Raises:
        ValidationError: they are of another version.
    """
    options = {name: getattr(job, name) for name in JobOptions.model_fields if name != "budget"}
    budget = {name: getattr(job, f"budget_{name}") for name in BudgetBody.model_fields}
    return JobOptions.model_validate(options | {"budget": budget})


def describe_restrictions(job: Job) -> list[RestrictionOut]:
    """Return the restrictions of a job's device at its last run."""
    if not job.restrictions:
        return []
    # Imported here: few jobs have any.
    from tuner.space.restrictions import effect_of

    return [RestrictionOut.model_validate(each | {"effect": effect_of(str(each["name"]))}) for each in job.restrictions]


def _comparison(job: Job) -> Comparison | None:
    default_us, best_us = job.compared_default_us, job.compared_best_us
    if default_us is None or best_us is None:
        return None
    return Comparison(default_us=default_us, best_us=best_us, speedup=default_us / best_us)


def _reported(job: Job, best: TrialOut) -> ReportedTimes | None:
    time, again = best.evidence.time, (job.compared_default_us, job.compared_best_us)
    return None if time is None else reported_times_of(time, None, interleaved=again)


def describe_trial(trial: Trial, problem: Problem) -> TrialOut:
    """Convert a trial of a problem to its response model."""
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


def _donor(warm_start: JsonObject, recorded: Mapping[str, UUID]) -> DonorOut:
    return DonorOut.model_validate(
        {
            "job": warm_start["job"],
            "recording": recorded.get(str(warm_start["recording"])),
            "trial": warm_start["number"],
            "problem": _problem(cast(JsonObject, warm_start["definition"])),
            "device": warm_start["device"],
            "distance": warm_start["distance"],
        }
    )


def _problem(definition: JsonObject) -> ProblemBody | JsonObject:
    try:
        return ProblemBody.model_validate(definition)
    except ValidationError:  # of another version
        return definition


def _reused(reused: Reuse) -> ReusedOut:
    return ReusedOut(job=reused.source.job_id, trial=reused.source.number, scale=reused.scale)


def find_job(session: Session, job_id: UUID) -> Job:
    """Return the row of a job.

    Raises:
        NotFound: there is none.
    """
    if (job := jobs.get(session, job_id)) is None:
        raise _no_job(job_id)
    return job


def _no_job(job_id: UUID) -> NotFound:
    return NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do")
