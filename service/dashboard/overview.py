"""Reads jobs, devices and schedules for the first page."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db import trials
from db.models import Device, Job, Schedule, ScheduleFire, Trial
from hal.listing import OPENCL_CPU_ID
from service.dashboard.evidence import TimeFigure
from service.dashboard.naming import problem_label
from service.dashboard.trial_time import trial_figure
from service.dashboard.views import DeviceRow, JobRow, Overview, ScheduleRow

LATEST = 50


def overview(session: Session, present: Sequence[DeviceRow]) -> Overview:
    """The first page; `present` are the devices that run here, which the database need not know yet."""
    query = (
        select(Job)
        .options(*(joinedload(column) for column in (Job.problem, Job.device, Job.imported)))
        .order_by(Job.created_at.desc(), Job.id.desc())
        .limit(LATEST)
    )
    jobs = session.scalars(query).all()
    done = _ended_counts(session, [j.id for j in jobs])
    best = _best_times(session, jobs)
    return Overview(
        jobs=tuple(job_row(j, best.get(j.id), done.get(j.id, 0)) for j in jobs),
        total_jobs=session.scalar(select(func.count()).select_from(Job)) or 0,
        devices=tuple(_devices(session, present)),
        schedules=tuple(_schedules(session)),
    )


def job_row(job: Job, best: TimeFigure | None, done: int) -> JobRow:
    """A job in a line. A job that is asked to stop and has not yet is "cancelling"."""
    stopping = job.cancel_requested and job.status in ("queued", "running")
    return JobRow(
        id=str(job.id),
        status="cancelling" if stopping else job.status,
        problem=problem_label(job.problem),
        device=job.device.slug,
        best=best,
        done=done,
        budget_trials=job.budget_trials,
        budget_seconds=job.budget_seconds,
        created_at=job.created_at,
        message=job.error,
        origin=None if job.imported is None else job.imported.origin,
    )


def _ended_counts(session: Session, job_ids: list[UUID]) -> dict[UUID, int]:
    query = (
        select(Trial.job_id, func.count())
        .where(Trial.job_id.in_(job_ids), Trial.status != "pending")
        .group_by(Trial.job_id)
    )
    return dict(session.execute(query).all())


def _best_times(session: Session, jobs: Sequence[Job]) -> dict[UUID, TimeFigure]:
    query = select(Trial).where(Trial.id.in_([j.best_trial_id for j in jobs if j.best_trial_id is not None]))
    by_id = {j.id: j for j in jobs}
    found = session.scalars(query.options(*trials.evidence_loads()))
    figures = {t.job_id: trial_figure(t, by_id[t.job_id].device.slug, by_id[t.job_id].problem) for t in found}
    return {job_id: figure for job_id, figure in figures.items() if figure is not None}


def _devices(session: Session, present: Sequence[DeviceRow]) -> Iterable[DeviceRow]:
    rows = {d.id: d for d in present}
    can_stand_in = any(d.id == OPENCL_CPU_ID and d.present for d in present)
    for device in session.scalars(select(Device).order_by(Device.slug, Device.id)):
        here = device.emulates is not None and can_stand_in
        row = DeviceRow(device.slug, device.name, device.kind, device.emulates, here, False, None)
        rows.setdefault(device.slug, row)
    return sorted(rows.values(), key=lambda d: (not d.present, d.id))


def _schedules(session: Session) -> Iterable[ScheduleRow]:
    query = select(ScheduleFire.schedule_id, func.max(ScheduleFire.due_at)).group_by(ScheduleFire.schedule_id)
    last = dict(session.execute(query).all())
    for s in session.scalars(select(Schedule).order_by(Schedule.name)):
        yield ScheduleRow(str(s.id), s.name, s.cron, s.timezone, s.enabled, s.next_due_at, last.get(s.id))
