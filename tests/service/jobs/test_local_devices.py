"""The devices of this machine."""

from service.jobs.local_devices import DevicesHere
from tests.service.rest import invented_devices


def test_what_is_here_is_looked_up_once_a_minute_with_the_stand_ins() -> None:
    now, listings = [100.0], [invented_devices(), []]
    here = DevicesHere(lambda: listings.pop(0), lambda: now[0])
    assert {"opencl-cpu", "opencl-cpu-as-b580"} <= here()
    assert "b580" not in here()
    now[0] += 60.0
    assert here() == frozenset()
