"""Reads a job and its trials for the job page: all of them lightly, those shown in full."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased, joinedload

from db.models import Job, JobImport, Kernel, Measurement, Prediction, PredictionError, Trial
from service.dashboard.chart import HistoryPoint, history_chart
from service.dashboard.evidence import ProofFigure, TimeEvidence, device_name, measured, predicted
from service.dashboard.judged import judged_chart
from service.dashboard.naming import config_label, problem_flops, problem_pairs
from service.dashboard.overview import job_row
from service.dashboard.views import PAGE_SIZE, JobPage, SpeedUp, TrialPage, TrialRow
from service.jobs.service import wall_of
from service.jobs.wall import wall_sentence
from service.launch import Launch, read_launch

SORTS = ("time", "number", "status")


def job_page(session: Session, job_id: UUID, sort: str, page: int) -> JobPage | None:
    """The page of a job, or None when there is no such job. An unknown sort or page falls back to the nearest."""
    query = (
        select(Job)
        .where(Job.id == job_id)
        .options(*(joinedload(column) for column in (Job.problem, Job.device, Job.imported, Job.effort)))
    )
    job = session.scalars(query).one_or_none()
    if job is None:
        return None
    points = _points(session, job)
    ended = [p for p in points if p.status != "pending"]
    ranks, best = _ranks(ended), _best_point(session, job, ended)
    chart = history_chart(ended)
    best_trial = None if best is None else _rows(session, job, [best], ranks)[0]
    return JobPage(
        job=job_row(job, None if best is None else best.time, len(ended)),
        best_trial=best_trial,
        speed_up=_speed_up(job, ended, best),
        counts=dict(Counter(p.status for p in points)),
        chart=chart,
        judged=judged_chart(ended),
        configs=_config_labels(session, job_id, (dot.point.number for dot in chart.dots)),
        trials=_trial_page(session, job, points, ranks, sort, page),
        started_at=job.started_at,
        finished_at=job.finished_at,
        last_seen=next((p.number for p in points if p.status == "pending"), len(points)) - 1,
        problem_facts=tuple(problem_pairs(job.problem)),
        best_launch=_launch(session, best_trial),
        wall=None if (wall := wall_of(job)) is None else wall_sentence(wall),
    )


def _launch(session: Session, trial: TrialRow | None) -> Launch | None:
    if trial is None or trial.kernel_id is None:
        return None
    manifest = session.scalar(select(Kernel.manifest).where(Kernel.id == UUID(trial.kernel_id)))
    return None if manifest is None else read_launch(manifest)


def _best_point(session: Session, job: Job, points: Iterable[HistoryPoint]) -> HistoryPoint | None:
    """The trial that the job names: once the best were measured again in turns, not always the fastest before."""
    number = session.scalar(select(Trial.number).where(Trial.id == job.best_trial_id))
    return next((p for p in points if p.number == number), None)


def _points(session: Session, job: Job) -> list[HistoryPoint]:
    # Columns and no objects: a job may have thousands of trials.
    other, there = aliased(Trial), aliased(Measurement)
    query = (
        select(
            Trial.number,
            Trial.status,
            *_columns(Measurement),
            Prediction.time_us,
            Prediction.low_us,
            Prediction.high_us,
            Prediction.model_version,
            PredictionError.ratio,
            *_columns(there),
            other.job_id,
            JobImport.origin,
        )
        .outerjoin(Measurement, Measurement.trial_id == Trial.id)
        .outerjoin(Prediction, Prediction.trial_id == Trial.id)
        .outerjoin(PredictionError, PredictionError.trial_id == Trial.id)
        .outerjoin(other, other.id == PredictionError.measured_trial_id)
        .outerjoin(there, there.trial_id == other.id)
        .outerjoin(JobImport, JobImport.job_id == other.job_id)
        .where(Trial.job_id == job.id)
        .order_by(Trial.number)
    )
    own = device_name(job.device.slug, None if job.imported is None else job.imported.origin)
    return [_point(job, own, *row) for row in session.execute(query)]


def _columns(of: type[Measurement]) -> Iterator[InstrumentedAttribute[float] | InstrumentedAttribute[str]]:
    yield from (of.median_us, of.p10_us, of.p90_us, of.label)


def _point(job: Job, own: str, number: int, status: str, *values: Any) -> HistoryPoint:
    median, p10, p90, label, time, low, high, model, ratio = values[:9]
    there_median, there_p10, there_p90, there_label, by, origin = values[9:]
    flops = problem_flops(job.problem)
    foreseen = None if time is None else predicted(time, low, high, model, flops)
    if median is not None:
        return HistoryPoint(number, status, measured(median, p10, p90, label, own, flops), foreseen, ratio)
    if foreseen is None or ratio is None:
        return HistoryPoint(number, status, foreseen)
    name = device_name(job.device.slug, origin or "another job")
    figure = measured(there_median, there_p10, there_p90, there_label, name, flops)
    return HistoryPoint(number, status, figure, foreseen, ratio, str(by))


def _ranks(points: Iterable[HistoryPoint]) -> dict[int, int]:
    """Rank of each timed trial among those with the same evidence."""
    timed = sorted((p.time.time_us, p.number, p.time.evidence) for p in points if p.time is not None)
    counted: Counter[TimeEvidence] = Counter()
    ranks: dict[int, int] = {}
    for _, number, evidence in timed:
        counted[evidence] += 1
        ranks[number] = counted[evidence]
    return ranks


def _speed_up(job: Job, points: Sequence[HistoryPoint], best: HistoryPoint | None) -> SpeedUp | None:
    default = next((p.time for p in points if p.number == 0), None)
    if best is None or best.time is None or default is None or default.evidence is not best.time.evidence:
        return None
    if best.number == 0:
        return SpeedUp(1.0, default, in_turns=job.compared_best_us is not None, beaten=False)
    if job.compared_default_us is not None and job.compared_best_us is not None:
        return SpeedUp(job.compared_default_us / job.compared_best_us, default, in_turns=True, beaten=True)
    return SpeedUp(default.time_us / best.time.time_us, default, in_turns=False, beaten=True)


def _trial_page(
    session: Session, job: Job, points: Sequence[HistoryPoint], ranks: Mapping[int, int], sort: str, page: int
) -> TrialPage:
    key = sort.removeprefix("-") if sort.removeprefix("-") in SORTS else "time"
    backwards = sort.startswith("-")
    if key == "time":  # those without a time come last, whichever way the others go
        timed = [p for p in points if p.time is not None]
        timed.sort(key=lambda p: (p.time.evidence.value, ranks[p.number]) if p.time else ("", 0), reverse=backwards)
        ordered = timed + [p for p in points if p.time is None]
    elif key == "status":
        ordered = sorted(points, key=lambda p: (p.status, p.number), reverse=backwards)
    else:
        ordered = sorted(points, key=lambda p: p.number, reverse=backwards)
    pages = max(1, -(-len(ordered) // PAGE_SIZE))
    page = min(max(page, 1), pages)
    shown = ordered[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return TrialPage(
        rows=tuple(_rows(session, job, shown, ranks)),
        sort=f"-{key}" if backwards else key,
        page=page,
        pages=pages,
        total=len(ordered),
    )


def _rows(session: Session, job: Job, points: Sequence[HistoryPoint], ranks: Mapping[int, int]) -> list[TrialRow]:
    numbers = [p.number for p in points]
    query = select(Trial).where(Trial.job_id == job.id, Trial.number.in_(numbers))
    trials = {t.number: t for t in session.scalars(query)}
    return [
        TrialRow(
            number=point.number,
            status=point.status,
            config=config_label(trial.config),
            rank=ranks.get(point.number),
            time=point.time,
            proof=proof_figure(trial),
            reason=trial.reason,
            kernel_id=None if trial.kernel_id is None else str(trial.kernel_id),
        )
        for point in points
        for trial in (trials[point.number],)
    ]


def proof_figure(trial: Trial) -> ProofFigure:
    """What a trial's row says of its numbers."""
    errors = trial.max_error, trial.tolerance
    return ProofFigure(trial.proof_kind, trial.proof_checked, trial.proof_total, *errors, trial.proof_method)


def _config_labels(session: Session, job_id: UUID, numbers: Iterable[int]) -> dict[int, str]:
    query = select(Trial.number, Trial.config).where(Trial.job_id == job_id, Trial.number.in_(list(numbers)))
    return {number: config_label(cast("Mapping[str, object]", config)) for number, config in session.execute(query)}
