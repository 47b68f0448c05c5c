"""A device that refuses Intel's queries is listed with the facts that it reports."""

from types import SimpleNamespace

import pytest

from hal import DeviceKind
from hal.probe import sycl


def test_a_gpu_without_answers_to_intels_queries_is_listed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dpctl")
    gpu = SimpleNamespace(
        name="Arc",
        vendor="Intel(R) Corporation",
        driver_version="1.15.1",
        filter_string="level_zero:gpu:0",
        is_gpu=True,
        is_cpu=False,
        global_mem_size=2**34,
        global_mem_cache_size=0,
        local_mem_size=2**17,
        max_work_group_size=1024,
        max_compute_units=160,
        max_clock_frequency=0,
        sub_group_sizes=[16, 32],
    )

    def refuse(_: object) -> dict[str, int]:
        raise RuntimeError("level_zero backend failed with error: 2147483646")

    monkeypatch.setattr(sycl, "sycl_devices", lambda: [gpu])
    monkeypatch.setattr("dpctl.utils.intel_device_info", refuse)
    (device,) = sycl.probe()
    assert (device.address, device.kind, device.pci_id) == ("level_zero:gpu:0", DeviceKind.GPU, None)
    assert (device.fact("subgroup_sizes"), device.fact("clock_mhz")) == ((16, 32), None)
