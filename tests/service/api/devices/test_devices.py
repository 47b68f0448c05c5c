"""Devices over REST: every known fact with its provenance, unknown ones absent; listings are reused."""

import threading
from pathlib import Path

from fastapi.testclient import TestClient

from hal import DeviceKind, Fact, list_devices
from hal.devices.listed import ListedDevice
from hal.driver.installed import Driver
from hal.facts.spec import PROBED
from hal.facts.xe import XE_DEVICES
from hal.probe.probe import (
    ProbedDevice,
    ProbeReport,
    Probes,
)
from service.api.devices.directory import DeviceDirectory
from service.api.devices.service import describe
from tests.service.rest import invented_devices
from tests.tuner.fakes import cpu_spec


def test_every_device_is_listed_with_its_facts(client: TestClient) -> None:
    devices = {device["id"]: device for device in client.get("/v1/devices").json()["devices"]}
    assert set(devices) == {cpu_spec().id, "opencl-cpu", *(row.spec.id for row in XE_DEVICES)}
    gpu = next(row.spec for row in XE_DEVICES if row.spec.id == "b580")
    shown = {fact["name"]: (fact["value"], fact["provenance"]) for fact in devices["b580"]["facts"]}
    assert shown == {
        fact.name: (list(fact.value) if isinstance(fact.value, tuple) else fact.value, fact.provenance)
        for fact in gpu.facts()
    }
    assert (devices["b580"]["runnable"], devices["b580"]["targetable"]) == (False, True)
    assert devices["a770"]["targetable"] is True
    assert devices["wildcat-lake"]["targetable"] is False
    assert "not targetable" in devices["wildcat-lake"]["note"]


def test_a_device_is_found_by_id_alias_or_what_it_stands_in_for(client: TestClient) -> None:
    assert client.get("/v1/devices/b580").json()["kind"] == "gpu"
    emulating = client.get("/v1/devices/opencl-cpu-as-b580").json()
    assert (emulating["id"], emulating["emulates"], emulating["kind"]) == ("opencl-cpu-as-b580", "b580", "cpu")
    missing = client.get("/v1/devices/nosuch")
    assert (missing.status_code, missing.json()["rule"]) == (404, "unknown-device")


def test_a_device_tells_its_names_its_remarks_and_what_it_can_be_used_for(client: TestClient) -> None:
    b50 = client.get("/v1/devices/E212").json()
    assert (b50["id"], b50["aliases"], b50["match"]) == ("b50", ["arc-pro-b50", "arc-b50"], None)
    assert any("78 Tflop/s" in remark for remark in b50["remarks"])
    assert b50["uses"] == [
        {"use": "compile", "ready": True, "missing": [], "reason": "", "assumed": []},
        {"use": "predict", "ready": True, "missing": [], "reason": "", "assumed": ["l2_bytes"]},
    ]
    withdrawn = client.get("/v1/devices/max1350").json()["uses"][1]
    assert (withdrawn["ready"], withdrawn["missing"]) == (False, ["clock_mhz"])
    assert (withdrawn["reason"], withdrawn["assumed"]) == ("not known: clock_mhz", ["l2_bytes"])
    compiled, predicted = client.get("/v1/devices/wildcat-lake").json()["uses"]
    assert compiled["reason"].startswith("no compiler target is known for it (there are pvc, bmg, ")
    assert predicted["reason"].endswith("kernels cannot be compiled for it")
    several = client.get("/v1/devices/20.2.0")
    assert (several.status_code, "name one of them: b70, b65" in several.json()["detail"]) == (404, True)


def test_a_gpu_that_is_here_tells_how_it_matches_the_table() -> None:
    facts = (Fact("pci_ids", ("E20B",), PROBED), Fact("xe_cores", 19, PROBED))
    gpu = ProbedDevice("opencl:0:0", "A GPU", DeviceKind.GPU, facts, has_dpas=True)
    shown = describe(list_devices(Probes(ProbeReport((gpu, gpu)), ProbeReport()))[1])
    assert (shown.id, shown.aliases[0]) == ("b580-2", "arc-b580")
    assert shown.match is not None
    assert (shown.match.by, shown.match.rows, shown.match.agreed) == ("PCI id E20B", ["b580"], ["pci_ids"])
    (differs,) = shown.match.disagreements
    assert (differs.fact, differs.probed, differs.tabled, differs.probed_by) == (
        "xe_cores",
        19,
        20,
        "probed opencl:0:0",
    )


def test_a_listing_is_reused_until_it_is_old_and_made_anew_beside() -> None:
    times, now = [], [0.0]

    def list_all() -> list[ListedDevice]:
        times.append(now[0])
        return invented_devices()

    directory = DeviceDirectory(list_all, ttl_s=10.0, clock=lambda: now[0])
    for now[0] in (0.0, 9.0, 10.0, 11.0, 12.0, 21.5):
        directory.all()
        for thread in threading.enumerate():
            if thread.name == "devices":
                thread.join()
    assert times == [0.0, 11.0, 21.5]


def test_an_old_listing_is_given_out_while_the_next_is_made() -> None:
    now, may_go_on = [0.0], threading.Event()
    made: list[list[ListedDevice]] = []

    def list_all() -> list[ListedDevice]:
        if made:
            assert may_go_on.wait(10)
        made.append(invented_devices()[len(made) :])
        return made[-1]

    directory = DeviceDirectory(list_all, ttl_s=10.0, clock=lambda: now[0])
    first = directory.all()
    now[0] = 60.0
    for _ in range(20):
        assert directory.all() is first
        directory.prepare()
    assert [thread.name for thread in threading.enumerate()].count("devices") == 1
    may_go_on.set()
    for thread in threading.enumerate():
        if thread.name == "devices":
            thread.join()
    assert directory.all() == first[1:]
    assert len(made) == 2


def test_a_listing_that_is_as_before_is_the_same() -> None:
    now = [0.0]
    directory = DeviceDirectory(invented_devices, ttl_s=10.0, clock=lambda: now[0])
    assert directory.all_at_hand() is None
    first = directory.all()
    now[0] = 60.0
    directory.all()
    for thread in threading.enumerate():
        if thread.name == "devices":
            thread.join()
    assert directory.all_at_hand() is first


def test_a_simulated_gpu_is_shown_without_a_use() -> None:
    driver = Driver(Path("/nowhere"), "26.27.1", {})
    devices = DeviceDirectory(lambda: list_devices(Probes(ProbeReport(), ProbeReport()), driver), 10)
    shown = describe(devices.get("simulated-driver-b580"))
    assert (shown.runtime, shown.runnable, shown.targetable, shown.uses) == ("simulated", False, False, [])
    assert {fact.name: fact.value for fact in shown.facts}["driver"] == "26.27.1"
    assert shown.note == "accepts kernels for bmg and executes nothing: tune for b580"
