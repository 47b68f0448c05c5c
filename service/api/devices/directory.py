"""Devices of this machine and of the table; the listing is refreshed when it is old."""

import threading
import time
from collections.abc import Callable, Sequence

from hal import UnknownDevice
from hal.devices.listed import ListedDevice
from hal.devices.resolve import resolve_device
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
