"""Devices as response models."""

from sqlalchemy.orm import Session

from hal import Match, Readiness, XeDevice, job_times, readiness, row_of
from hal.devices.listed import ListedDevice, Runtime
from service.api.devices import quarantine
from service.api.devices.directory import DeviceDirectory
from service.api.devices.schemas import (
    DeviceList,
    DeviceOut,
    DisagreementOut,
    FactOut,
    FactValue,
    FindingOut,
    MatchOut,
    ReadinessOut,
)


def list_devices(directory: DeviceDirectory, session: Session) -> DeviceList:
    """Return local devices, every GPU of the table, and quarantined devices."""
    return DeviceList(devices=[describe(device) for device in directory.all()], quarantined=quarantine.listed(session))


def describe(device: ListedDevice) -> DeviceOut:
    """Convert a device to its response model."""
    spec, row, times = device.spec, _row(device), job_times(device)
    return DeviceOut(
        id=spec.id,
        name=spec.name,
        kind=spec.kind,
        emulates=spec.emulates,
        runtime=device.runtime,
        address=device.address,
        runnable=device.runnable,
        targetable=device.targetable,
        times=times.kind,
        rejection=times.reason,
        note=device.note,
        facts=[FactOut(name=f.name, value=_plain(f.value), provenance=f.provenance) for f in spec.facts()],
        aliases=list(row.aliases) if row is not None and spec.emulates is None else [],
        remarks=list(row.notes) if row is not None else [],
        uses=[] if device.runtime is Runtime.SIMULATED else [_readiness(use) for use in readiness(spec)],
        match=_match(device.match) if device.match is not None else None,
        findings=[
            FindingOut(check=f.check, subject=f.subject, state=f.state, found=f.found, remedy=f.remedy)
            for f in device.findings
        ],
    )


def _row(device: ListedDevice) -> XeDevice | None:
    """Return the table row of a device, or of the GPU that it emulates."""
    if device.match is not None:
        return row_of(device.match.rows[0]) if len(device.match.rows) == 1 else None
    return row_of(device.spec.emulates or device.spec.id)


def _readiness(of: Readiness) -> ReadinessOut:
    return ReadinessOut(
        use=of.use, ready=of.ready, missing=list(of.missing), reason=of.reason, assumed=list(of.assumed)
    )


def _match(match: Match) -> MatchOut:
    differ = [
        DisagreementOut(
            fact=d.fact,
            probed=_plain(d.probed),
            probed_by=d.probed_by,
            tabled=_plain(d.tabled),
            tabled_by=d.tabled_by,
        )
        for d in match.disagreements
    ]
    return MatchOut(by=match.by, rows=list(match.rows), agreed=list(match.agreed), disagreements=differ)


def _plain(value: object) -> FactValue:
    if isinstance(value, tuple):
        return list(value)
    assert isinstance(value, bool | int | float | str)
    return value
