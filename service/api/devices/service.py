"""Devices of this machine and of the table; the listing is refreshed when it is old."""

import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy.orm import Session

from hal import Match, Readiness, UnknownDevice, XeDevice, job_times, readiness, row_of
from hal.devices.listed import ListedDevice, Runtime
from hal.devices.resolve import resolve_device
from service.api.devices import quarantine
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
from service.errors import BadRequest, FieldError, NotFound


class DeviceDirectory:
    """Devices by name. Thread-safe.

    A listing probes drivers for about a second, so one is reused for `ttl_s`; an older one is returned while
    the next is made in the background.
    """

    def __init__(
        self,
        list_all: Callable[[], Sequence[ListedDevice]],
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._list_all, self._ttl_s, self._clock = list_all, ttl_s, clock
        self._lock = threading.Lock()
        self._listed: tuple[float, tuple[ListedDevice, ...]] | None = None

    def all(self) -> tuple[ListedDevice, ...]:
        """Return every local device and every device of the table; the identical tuple while nothing changes."""
        listed = self._listed
        if listed is None:
            with self._lock:
                return self._refresh()
        if self._clock() - listed[0] > self._ttl_s and not self._lock.locked():
            self.prepare()
        return listed[1]

    def all_at_hand(self) -> tuple[ListedDevice, ...] | None:
        """Return what `all` does if that needs no waiting; None before the first listing."""
        return None if self._listed is None else self.all()

    def prepare(self) -> None:
        """List the devices in a background thread, unless a listing is running or not due."""
        if self._lock.acquire(blocking=False):
            threading.Thread(target=self._refresh_then_release, name="devices", daemon=True).start()

    def _refresh_then_release(self) -> None:
        try:
            self._refresh()
        finally:
            self._lock.release()

    def _refresh(self) -> tuple[ListedDevice, ...]:
        if self._listed is None or self._clock() - self._listed[0] > self._ttl_s:
            now = tuple(self._list_all())
            before = self._listed
            self._listed = self._clock(), before[1] if before is not None and before[1] == now else now
        return self._listed[1]

    def get(self, name: str) -> ListedDevice:
        """Return the device of a path parameter.

        Raises:
            NotFound: there is none.
        """
        for device in self.all():
            if device.spec.id == name:
                return device
        try:
            return resolve_device(name, None, self.all())
        except UnknownDevice as error:
            raise NotFound(str(error), rule="unknown-device") from error

    def resolve(self, name: str, target: str | None) -> ListedDevice:
        """Return the device of a request by name or "auto"; `target` is the GPU that it emulates.

        Raises:
            BadRequest: rule `unknown-device`.
        """
        try:
            return resolve_device(name, target, self.all())
        except UnknownDevice as error:
            field = "target" if target is not None and self._resolves(name) else "device"
            fault = FieldError(field=field, message=str(error))
            raise BadRequest(str(error), rule="unknown-device", errors=[fault]) from error

    def _resolves(self, name: str) -> bool:
        """Return whether a device is known by its name, without a target."""
        try:
            resolve_device(name, None, self.all())
        except UnknownDevice:
            return False
        return True


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
