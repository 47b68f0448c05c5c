"""The devices of this machine."""

from pathlib import Path

import structlog

from hal import list_devices
from service.jobs.local_devices import DevicesHere
from tests.hal.machines import NOTHING, add_gpu, machine
from tests.service.rest import invented_devices


def test_what_is_here_is_looked_up_once_a_minute_with_the_stand_ins() -> None:
    now, listings = [100.0], [invented_devices(), []]
    here = DevicesHere(lambda: listings.pop(0), lambda: now[0])
    assert {"opencl-cpu", "opencl-cpu-as-b580"} <= here()
    assert "b580" not in here()
    now[0] += 60.0
    assert here() == frozenset()


def test_a_gpu_that_is_not_used_is_logged_once(tmp_path: Path) -> None:
    add_gpu(tmp_path, driver=None, node=None)
    devices = list_devices(NOTHING, machine=machine(tmp_path))
    now = [0.0]
    here = DevicesHere(lambda: devices, lambda: now[0])
    with structlog.testing.capture_logs() as logs:
        for now[0] in (0.0, 100.0, 200.0):
            assert "b580" not in here()
    (told,) = logs
    assert (told["log_level"], told["device"]) == ("warning", "b580")
    assert "no kernel driver is bound to it" in told["why"]
