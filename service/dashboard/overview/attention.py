"""Warnings: failed jobs, quarantined devices, queues without a worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db.queries import quarantines
from db.queries.cluster import heartbeats
from db.schema.job import Job
from db.schema.schedule import Schedule, ScheduleFire
from db.schema.target import Device
from hal.devices.listed import ListedDevice
from service.dashboard.naming import problem_label

RECENT = timedelta(days=7)
PATIENCE = timedelta(minutes=1)
"""Time that a job may wait, or a worker miss heartbeats, before a warning."""
MOST_JOBS = 5


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to look at: what it is, and the page that says more. A `warning` stops nothing yet."""

    text: str
    href: str
    link: str
    warning: bool = False


def attention(session: Session, present: Sequence[ListedDevice], now: datetime) -> tuple[Note, ...]:
    """All of it, the most pressing first."""
    return (
        *_quarantined(session, now),
        *_waiting(session, now),
        *_failed(session, now),
        *_missed(session, now),
        *_outdated(session, present),
    )


def _quarantined(session: Session, now: datetime) -> Iterator[Note]:
    for held in quarantines.active(session, now=now):
        text = f"{held.slug} on {held.host} gets no jobs: {held.reason}"
        yield Note(text, f"/devices/{held.slug}", "Its health")


def _waiting(session: Session, now: datetime) -> Iterator[Note]:
    long = Job.created_at < now - PATIENCE
    queued = session.scalars(select(Job.id).where(Job.status == "queued", long).limit(100)).all()
    running = session.scalars(select(Job.lease_until).where(Job.status == "running").limit(100)).all()
    if lost := sum(until is not None and until < now for until in running):
        yield Note(
            f"{_jobs(lost)} running with nobody working on it: its worker is silent", "/jobs?status=running", "See"
        )
    if queued and not running:
        there = [p for p in heartbeats.list_all(session) if p.role == "worker" and p.seen_at > now - PATIENCE]
        why = "no worker has a device for it" if there else "no worker says that it is there (xetune serve, or worker)"
        yield Note(
            f"{_jobs(len(queued))} waiting and none is running: {why}", "/jobs?status=queued", "See", warning=True
        )


def _failed(session: Session, now: datetime) -> Iterator[Note]:
    query = (
        select(Job)
        .where(Job.status == "failed", Job.finished_at > now - RECENT)
        .order_by(Job.id.desc())
        .limit(MOST_JOBS + 1)
        .options(joinedload(Job.problem), joinedload(Job.device))
    )
    found = session.scalars(query).all()
    for job in found[:MOST_JOBS]:
        text = f"{problem_label(job.problem)} on {job.device.slug} failed: {job.error}"
        yield Note(text, f"/jobs/{job.id}", "See why")
    if len(found) > MOST_JOBS:
        yield Note("More jobs failed in the last 7 days", "/jobs?status=failed", "All of them")


def _missed(session: Session, now: datetime) -> Iterator[Note]:
    query = (
        select(Schedule.name, func.count())
        .join(ScheduleFire, ScheduleFire.schedule_id == Schedule.id)
        .where(ScheduleFire.outcome == "missed", ScheduleFire.due_at > now - RECENT)
        .group_by(Schedule.name)
        .order_by(Schedule.name)
    )
    for name, times in session.execute(query):
        text = f"Schedule {name} missed {times} run{'' if times == 1 else 's'} in the last 7 days"
        yield Note(text, "/#schedules", "Schedules", warning=True)


def _outdated(session: Session, present: Sequence[ListedDevice]) -> Iterator[Note]:
    """Results under another driver than the one that is here now: lookups serve them as stale."""
    for device in present:
        spec = device.spec
        if not device.runnable or spec.driver is None:
            continue
        old = select(Device.id).where(Device.slug == spec.id, Device.driver != spec.driver, Device.driver != "")
        now_tuned = select(Job.problem_id).join(Device).where(Device.slug == spec.id, Device.driver == spec.driver)
        query = select(func.count(func.distinct(Job.problem_id))).where(
            Job.device_id.in_(old), Job.best_trial_id.is_not(None), Job.problem_id.not_in(now_tuned)
        )
        if number := session.scalar(query):
            text = f"{number} problem{'' if number == 1 else 's'} of {spec.id} were tuned under another driver than "
            yield Note(f"{text}{spec.driver}: lookups say so", f"/devices/{spec.id}", "The device", warning=True)


def _jobs(count: int) -> str:
    return f"{'100 or more' if count == 100 else count} job{'' if count == 1 else 's'} {'is' if count == 1 else 'are'}"
