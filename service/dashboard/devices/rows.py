"""Devices in lists, from the listing of this machine and from the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries import change_feed
from db.schema.job import Job
from db.schema.target import Device
from db.schema.trial import Measurement
from hal import job_times
from hal.devices.listed import ListedDevice
from hal.devices.listing import OPENCL_CPU_ID
from service.dashboard.evidence import TimeEvidence
from tuner.session.evidence import NATIVE

_kept: dict[tuple[str, int], tuple[int, bool]] = {}
"""Cache by database and device: the stamp of its changes, and whether it had a measured winner."""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device. `present` means that it is local, `targetable` that kernels can be compiled for it.

    `times` is the evidence of the times of a job for it; None if jobs for it are rejected, with the `rejection`.
    `used` means that the database has jobs of it, `measured` that it has measured times, local or imported.
    """

    id: str
    name: str
    kind: str
    emulates: str | None
    present: bool
    targetable: bool
    note: str | None
    times: TimeEvidence | None
    rejection: str
    used: bool = False
    measured: bool = False


def device_rows(session: Session, listed: Sequence[ListedDevice]) -> list[DeviceRow]:
    """Return local devices, those of the table, and those only in the database; local ones first."""
    stored_rows = session.scalars(select(Device).order_by(Device.slug, Device.id)).all()
    stored = {d.slug: d for d in stored_rows}
    measured = {device.slug for device in _measured(session, stored_rows)}
    rows = {d.spec.id: _listed_row(d, d.spec.id in stored, d.spec.id in measured) for d in listed}
    can_stand_in = any(d.id == OPENCL_CPU_ID and d.present for d in rows.values())
    for slug, device in stored.items():
        if slug not in rows:
            rows[slug] = _stored_row(device, device.emulates is not None and can_stand_in, slug in measured)
    return sorted(rows.values(), key=lambda d: (not d.present, not d.used, d.id))


def _listed_row(device: ListedDevice, used: bool, measured: bool) -> DeviceRow:
    spec, times = device.spec, job_times(device)
    return DeviceRow(
        spec.id,
        spec.name,
        spec.kind.value,
        spec.emulates,
        device.runnable,
        device.targetable,
        device.note,
        None if times.kind is None else TimeEvidence(times.kind.value),
        times.reason,
        used,
        measured,
    )


def _stored_row(device: Device, here: bool, measured: bool) -> DeviceRow:
    """Convert a device of the database that is not listed; `here` if a CPU of this machine emulates it."""
    times, rejection = (TimeEvidence.EMULATED, "") if here else (None, "it is not in this machine")
    return DeviceRow(
        device.slug, device.name, device.kind, device.emulates, here, False, None, times, rejection, True, measured
    )


def _measured(session: Session, devices: Sequence[Device]) -> list[Device]:
    """Return the devices with a measured winner, without emulation; refreshed when results of a device
    changed.

    For a device with only predictions all jobs are checked.
    """
    stamps, url = change_feed.of_devices(session), str(session.get_bind().engine.url)
    found: list[Device] = []
    for device in devices:
        name, stamp = (url, device.id), stamps.get(device.id, 0)
        kept = _kept.get(name)
        if kept is None or kept[0] != stamp:
            winner = select(Job.id).join(Measurement, Measurement.trial_id == Job.best_trial_id)
            winner = winner.where(Job.device_id == device.id, Measurement.label == NATIVE)
            kept = _kept[name] = stamp, session.scalar(select(winner.exists())) is True
        if kept[1]:
            found.append(device)
    return found
