"""Faults of drivers are told in one short line."""

import pytest

from hal.errors import DeviceCrashed
from hal.probe.probe import ProbeReport, Probes, probe_drivers
from hal.process.child import Child


def test_what_a_runtime_printed_at_its_crash_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def receive(_child: Child, _timeout_s: float) -> ProbeReport:
        raise DeviceCrashed(
            "the device process ended with SIGABRT; it printed: terminate\n  what():  " + "PI_ERROR " * 90
        )

    monkeypatch.setattr(Child, "receive", receive)
    monkeypatch.setattr(Child, "send", lambda _child, _work: None)
    found = probe_drivers()
    assert found.opencl.fault is not None
    assert found.sycl.fault is not None
    assert found.sycl.fault.startswith(
        "probing SYCL failed: the device process ended with SIGABRT; it printed: terminate what():"
    )
    assert "\n" not in found.sycl.fault
    assert len(found.sycl.fault) < 230
    assert isinstance(found, Probes)
