"""Devices over REST: every known fact with its provenance, unknown ones absent; listings are reused."""

import threading

from fastapi.testclient import TestClient

from hal.xe import XE_DEVICES
from service.devices.service import DeviceDirectory
from tests.service.rest import invented_devices


def test_every_device_is_listed_with_its_facts(client: TestClient) -> None:
    devices = {device["id"]: device for device in client.get("/v1/devices").json()["devices"]}
    assert set(devices) == {"opencl-cpu", *(row.spec.id for row in XE_DEVICES)}
    gpu = next(row.spec for row in XE_DEVICES if row.spec.id == "b580")
    shown = {fact["name"]: (fact["value"], fact["provenance"]) for fact in devices["b580"]["facts"]}
    assert shown == {
        fact.name: (list(fact.value) if isinstance(fact.value, tuple) else fact.value, fact.provenance)
        for fact in gpu.facts()
    }
    assert (devices["b580"]["runnable"], devices["b580"]["targetable"]) == (False, True)
    assert devices["a770"]["targetable"] is False
    assert "not targetable" in devices["a770"]["note"]


def test_a_device_is_found_by_id_alias_or_what_it_stands_in_for(client: TestClient) -> None:
    assert client.get("/v1/devices/b580").json()["kind"] == "gpu"
    emulating = client.get("/v1/devices/opencl-cpu-as-b580").json()
    assert (emulating["id"], emulating["emulates"], emulating["kind"]) == ("opencl-cpu-as-b580", "b580", "cpu")
    missing = client.get("/v1/devices/nosuch")
    assert (missing.status_code, missing.json()["rule"]) == (404, "unknown-device")


def test_a_listing_is_reused_until_it_is_old_and_made_anew_beside() -> None:
    times, now = [], [0.0]

    def list_all() -> list:
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
    made: list[list] = []

    def list_all() -> list:
        if made:
            assert may_go_on.wait(10)
        made.append(invented_devices())
        return made[-1]

    directory = DeviceDirectory(list_all, ttl_s=10.0, clock=lambda: now[0])
    first = directory.all()
    now[0] = 60.0
    assert directory.all() is first
    may_go_on.set()
    directory.prepare().join()
    for thread in threading.enumerate():
        if thread.name == "devices":
            thread.join()
    assert directory.all() is not first
    assert len(made) == 2
