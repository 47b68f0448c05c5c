"""Devices in lists, from the listing of this machine and from the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries import change_feed
from db.schema import (
    Device,
    Job,
    Measurement,
)
from hal.devices.listed import ListedDevice
from hal.devices.listing import OPENCL_CPU_ID
from service.dashboard.evidence import TimeEvidence
from tuner.session.evidence import NATIVE

_kept: dict[tuple[str, int], tuple[int, bool]] = {}
"""Cache by database and device: the stamp of its changes, and whether it had a measured winner."""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device. `present` means that it is local, `targetable` that kernels can be compiled for it.

    `used` means that the database has jobs of it, `measured` that it has measured times, local or imported.
    """

    id: str
    name: str
    kind: str
    emulates: str | None
    present: bool
    targetable: bool
    note: str | None
    used: bool = False
    measured: bool = False

    @property
    def times(self) -> TimeEvidence | None:
        """Return the evidence that a time for this device would have: a CPU has no DPAS, so GPU kernels on it
        are emulated.
        """
        if self.present:
            stands_in = self.kind == "cpu" and (self.emulates is not None or not self.targetable)
            return TimeEvidence.EMULATED if stands_in else TimeEvidence.MEASURED
        return TimeEvidence.PREDICTED if self.targetable else None


def device_rows(session: Session, listed: Sequence[ListedDevice]) -> list[DeviceRow]:
    """Return local devices, those of the table, and those only in the database; local ones first."""
    stored_rows = session.scalars(select(Device).order_by(Device.slug, Device.id)).all()
    stored = {d.slug: d for d in stored_rows}
    measured = {device.slug for device in _measured(session, stored_rows)}
    rows = {
        d.spec.id: DeviceRow(
            d.spec.id,
            d.spec.name,
            d.spec.kind.value,
            d.spec.emulates,
            d.runnable,
            d.targetable,
            d.note,
            used=d.spec.id in stored,
            measured=d.spec.id in measured,
        )
        for d in listed
    }
    can_stand_in = any(d.id == OPENCL_CPU_ID and d.present for d in rows.values())
    for slug, device in stored.items():
        here = device.emulates is not None and can_stand_in
        rows.setdefault(
            slug, DeviceRow(slug, device.name, device.kind, device.emulates, here, False, None, True, slug in measured)
        )
    return sorted(rows.values(), key=lambda d: (not d.present, not d.used, d.id))


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
