"""A device's page, the list, REST and the terminal state of jobs for it what a job meets."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from rich.console import Group

from hal import TimeKind, job_times
from service.cli.devices.tables import render_devices
from service.cli.printing.output import CONSOLE
from tests.service.rest import BODY, invented_devices

DEVICES = {device.spec.id: device for device in invented_devices()}
LABELS = {
    TimeKind.MEASURED: "measured",
    TimeKind.EMULATED: "measured, DPAS emulated",
    TimeKind.PREDICTED: "predicted",
    None: "no jobs;",
}


def page_text(client: TestClient, path: str) -> str:
    html = client.get(path, headers={"Accept": "text/html"}).text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize("id", DEVICES)
def test_a_job_is_accepted_for_exactly_the_devices_with_times(client: TestClient, id: str) -> None:
    state = job_times(DEVICES[id])
    answer = client.post("/v1/jobs", json=BODY | {"device": id})
    assert (answer.status_code == 202) == (state.kind is not None), answer.text
    assert (state.reason == "") == (state.kind is not None)
    told = client.get(f"/v1/devices/{id}").json()
    kind = TimeKind.EMULATED if id == "opencl-cpu" else state.kind
    assert (told["times"], told["rejection"]) == (kind, state.reason)
    assert f"Jobs for it {LABELS[state.kind]} {state.reason}".strip() in page_text(client, f"/devices/{id}")


def test_the_list_says_the_same_of_each(client: TestClient) -> None:
    html = client.get("/devices", headers={"Accept": "text/html"}).text
    rows = {row[1]: row[0] for row in re.finditer(r'<tr>\s*<th[^>]*><a href="/devices/([^"]+)">.*?</tr>', html, re.S)}
    assert rows.keys() == DEVICES.keys()
    for id, device in DEVICES.items():
        state = job_times(device)
        assert f">{LABELS[state.kind]}</span>" in rows[id], id
        assert state.reason in unescape(rows[id]), id


def test_the_terminal_names_the_same_devices() -> None:
    with CONSOLE.capture() as capture:
        CONSOLE.print(Group(*render_devices(list(DEVICES.values()))), width=1000)
    told = capture.get().partition("Kernels are compiled for all of them but:")[2]
    named = set(re.findall(r"[a-z0-9-]+(?=[,:])", " ".join(told.split())))
    rejected = {id for id, device in DEVICES.items() if job_times(device).kind is None}
    assert rejected <= named
    assert not named & (DEVICES.keys() - rejected)
