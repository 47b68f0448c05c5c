"""Data of the pages of devices: hardware, stored results, and the queue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db.queries import quarantines
from db.schema.job import Job
from db.schema.quarantine import DeviceQuarantine
from db.schema.target import Device
from db.schema.trial import Measurement, Trial
from hal import Readiness, readiness
from hal.devices.listed import ListedDevice
from hal.facts.spec import DeviceSpec
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.devices.facts import ShownFact, measured_rates, shown
from service.dashboard.devices.rows import DeviceRow
from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs.rows import JobRow, job_rows
from service.device_json import spec_from_json
from service.errors import NotFound
from service.evidence import rates_of
from tuner.session.evidence import NATIVE

MOST_JOBS = 10
MOST_CLOCKS = 1000
RECENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ListRow:
    """A device in the list: `queued` and `running` jobs, and the end of its quarantine, if any."""

    device: DeviceRow
    queued: int
    running: int
    held_until: datetime | None


@dataclass(frozen=True, slots=True)
class Driver:
    """Jobs under one driver, and the time of the last one; `present` for the current driver."""

    name: str
    jobs: int
    last: datetime | None
    present: bool


@dataclass(frozen=True, slots=True)
class DevicePage:
    """A device. `spec` is the local one or that of the table, else the stored one; `uses` has the missing facts."""

    row: DeviceRow
    facts: tuple[ShownFact, ...]
    disagreements: tuple[str, ...]
    uses: tuple[tuple[str, bool, str], ...]
    held: tuple[DeviceQuarantine, ...]
    drivers: tuple[Driver, ...]
    active: tuple[JobRow, ...]
    latest: tuple[JobRow, ...]
    failed: int
    lost: int
    clocks: tuple[float, float, float, int] | None


def device_list(session: Session, rows: Sequence[DeviceRow], now: datetime) -> list[ListRow]:
    """Return the devices with their queues; local ones and those with work first."""
    active: dict[tuple[str, str], int] = {}
    query = select(Device.slug, Job.status, func.count()).select_from(Job).join(Device)
    for slug, status, number in session.execute(
        query.where(Job.status.in_(("queued", "running"))).group_by(Device.slug, Job.status)
    ):
        active[slug, status] = number
    held = {held.slug: held.until for held in quarantines.active(session, now=now)}
    found = [
        ListRow(d, active.get((d.id, "queued"), 0), active.get((d.id, "running"), 0), held.get(d.id)) for d in rows
    ]
    return sorted(found, key=lambda r: (not (r.device.present or r.queued or r.running), r.device.id))


def device_page(
    session: Session, slug: str, rows: Sequence[DeviceRow], listed: Sequence[ListedDevice], now: datetime
) -> DevicePage:
    """Return the page of a device.

    Raises:
        NotFound: it is neither local, nor in the table, nor in the database.
    """
    row = next((d for d in rows if d.id == slug), None)
    if row is None:
        raise NotFound(f"no device has the id {slug[:200]}; /devices lists those that are known")
    here = next((d for d in listed if d.spec.id == slug), None)
    stored = session.scalars(select(Device).where(Device.slug == slug).order_by(Device.id.desc())).all()
    spec = here.spec if here is not None else _stored_spec(stored)
    ids = [device.id for device in stored]
    return DevicePage(
        row=row,
        facts=() if spec is None else (*_rates(stored), *(shown(fact) for fact in spec.facts())),
        disagreements=tuple(map(str, here.match.disagreements)) if here is not None and here.match is not None else (),
        uses=() if spec is None else tuple((use.use.value, use.ready, _said(use)) for use in readiness(spec)),
        held=tuple(held for held in quarantines.active(session, now=now) if held.slug == slug),
        drivers=tuple(_drivers(session, stored, None if here is None else here.spec.driver)),
        active=tuple(job_rows(session, _jobs(session, ids, ("running", "queued")))),
        latest=tuple(job_rows(session, _jobs(session, ids, ("succeeded", "failed", "cancelled")))),
        failed=_failed(session, ids, now),
        lost=_lost(session, ids),
        clocks=_clocks(session, ids),
    )


def clocks_chart(session: Session, slug: str) -> Chart:
    """Return the device clocks that were read during the latest measurements."""
    found = _clock_rows(session, list(session.scalars(select(Device.id).where(Device.slug == slug))))
    series: list[Series] = []
    for label in sorted({label for *_, label in found}):
        evidence = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
        own = [(i, mhz, at, job, number) for i, (mhz, at, job, number, of) in enumerate(found) if of == label]
        rows: list[Row] = [(i, mhz, f"{at:%Y-%m-%d %H:%M:%S}", number) for i, mhz, at, _, number in own]
        links = [f"/jobs/{job}/trials/{number}" for *_, job, number in own]
        series.append(Series(f"read while {evidence}", Mark.DOTS, rows, evidence, links=links))
    return Chart(
        title="Clock during measurements",
        note=f"The latest {len(found):,} measurements that read a clock, the last on the right.",
        columns=(Column("Measurement"), Column("Clock", "MHz"), Column("At (UTC)"), Column("Trial")),
        series=tuple(series),
        x=ChartAxis(0, "Measurement", whole=True),
        y=ChartAxis(1, "Clock", "MHz"),
        empty="No measurement read a clock: not every driver tells it.",
    )


def _said(use: Readiness) -> str:
    assumed = f"assumed: {', '.join(use.assumed)}" if use.assumed else ""
    return "; ".join(text for text in (use.reason, assumed) if text)


def _rates(stored: Sequence[Device]) -> list[ShownFact]:
    """Return the measured rates of the latest driver that has them."""
    for device in stored:
        try:
            rates = rates_of(device)
        except ValueError:
            continue
        if rates is not None:
            return measured_rates(rates)
    return []


def _stored_spec(stored: Sequence[Device]) -> DeviceSpec | None:
    if not stored:
        return None
    try:
        return spec_from_json(stored[0].spec)
    except ValueError:
        return None


def _drivers(session: Session, stored: Sequence[Device], present: str | None) -> Iterator[Driver]:
    query = select(Job.device_id, func.count(), func.max(Job.created_at)).group_by(Job.device_id)
    of = {
        device: (jobs, last)
        for device, jobs, last in session.execute(query.where(Job.device_id.in_([d.id for d in stored])))
    }
    for device in stored:
        jobs, last = of.get(device.id, (0, None))
        yield Driver(device.driver or "not known", jobs, last, bool(device.driver) and device.driver == present)


def _jobs(session: Session, device_ids: Sequence[int], statuses: Sequence[str]) -> Sequence[Job]:
    columns = (Job.problem, Job.device)
    query = select(Job).where(Job.device_id.in_(device_ids), Job.status.in_(statuses))
    query = query.order_by(Job.id.desc()).limit(MOST_JOBS).options(*(joinedload(column) for column in columns))
    return session.scalars(query).all()


def _failed(session: Session, device_ids: Sequence[int], now: datetime) -> int:
    query = select(func.count()).select_from(Job).where(Job.device_id.in_(device_ids), Job.status == "failed")
    return session.scalar(query.where(Job.finished_at > now - RECENT)) or 0


def _lost(session: Session, device_ids: Sequence[int]) -> int:
    """Return the number of trials of the latest jobs that crashed the device's process or hung."""
    latest = [job.id for job in _jobs(session, device_ids, ("running", "succeeded", "failed", "cancelled"))]
    query = select(func.count()).where(Trial.job_id.in_(latest), Trial.status.in_(("crashed", "timed_out")))
    return session.scalar(query) or 0


def _clock_rows(session: Session, device_ids: Sequence[int]) -> list[tuple[float, datetime, UUID, int, str]]:
    """Clocks of the latest jobs' measurements, the oldest first."""
    latest = [job.id for job in _jobs(session, device_ids, ("running", "succeeded", "failed", "cancelled"))]
    query = (
        select(Measurement.clock_mhz, Measurement.measured_at, Trial.job_id, Trial.number, Measurement.label)
        .join(Trial, Trial.id == Measurement.trial_id)
        .where(Trial.job_id.in_(latest), Measurement.clock_mhz.is_not(None))
        .order_by(Measurement.trial_id.desc())
        .limit(MOST_CLOCKS)
    )
    rows = [(mhz, at, job, number, label) for mhz, at, job, number, label in session.execute(query) if mhz is not None]
    return rows[::-1]


def _clocks(session: Session, device_ids: Sequence[int]) -> tuple[float, float, float, int] | None:
    read = sorted(mhz for mhz, *_ in _clock_rows(session, device_ids))
    return (read[0], read[len(read) // 2], read[-1], len(read)) if read else None
