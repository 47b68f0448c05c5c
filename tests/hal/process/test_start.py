"""A device's process that does not come up is ended at the time that its caller has."""

import time

import pytest

from hal import DeviceTimedOut
from hal.devices.listed import NATIVE
from hal.facts.cpu import probe_cpu
from hal.process.device_process import ProcessDevice

LONG_S = 600.0


def never(*_: object) -> None:
    """Open a device whose driver hangs."""
    time.sleep(LONG_S)


@pytest.mark.slow
def test_a_process_that_never_starts_is_ended_in_time_and_the_next_one_may(monkeypatch: pytest.MonkeyPatch) -> None:
    device = ProcessDevice(probe_cpu(), NATIVE)
    with monkeypatch.context() as patch:
        patch.setattr("hal.process.device_process._open", never)
        begun_s = time.monotonic()
        with pytest.raises(DeviceTimedOut, match=r"opening \S+ at native: no answer .* within 0.5 s; it was ended"):
            device.start(0.5)
        assert time.monotonic() - begun_s < LONG_S / 10
        assert device.pid is None
    device.start(LONG_S / 10)
    pid = device.pid
    device.start(0.0)  # it is up
    assert (device.pid, device.restarts) == (pid, 0)
    device.close()
