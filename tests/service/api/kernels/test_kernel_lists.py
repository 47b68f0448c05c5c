"""Every kernel that is stored, in pages, filtered."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from db.queries import devices
from db.schema.kernel import Kernel
from service.api.kernels.listing import newest
from service.http.context import Context
from tests.db import rows
from tests.tuner.exchange.lines import results, text_of

PATH = "/v1/kernels/stored"


@pytest.fixture
def stored(client: TestClient) -> TestClient:
    """A client of a service with the kernels of an imported job: two that were measured."""
    assert client.post("/v1/imports", content=text_of(results())).status_code == 200
    return client


def listed(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    """The kernels of one page."""
    answer = client.get(PATH, params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["kernels"]
    return found


def test_kernels_come_newest_first_with_their_evidence(stored: TestClient) -> None:
    found = listed(stored)
    assert [line["id"] for line in found] == sorted((line["id"] for line in found), reverse=True)
    assert {line["evidence"]["time"]["kind"] for line in found} == {"measured"}
    assert {(line["device"], line["origin"], line["problem"]["m"]) for line in found} == {("b580", "the lab", 96)}
    whole = stored.get(f"/v1/kernels/{found[0]['id']}").json()
    assert [line.pop("winner") for line in found] == [True, False]
    assert {name: whole[name] for name in found[0]} == found[0]


def test_pages_hold_each_kernel_once(stored: TestClient) -> None:
    every = [line["id"] for line in listed(stored)]
    seen: list[str] = []
    asked: dict[str, Any] = {"limit": 1}
    while True:
        page = stored.get(PATH, params=asked).json()
        seen += [line["id"] for line in page["kernels"]]
        if page["next_before"] is None:
            break
        asked["before"] = page["next_before"]
    assert seen == every
    assert len(every) == 2


def test_kernels_of_a_device_with_several_drivers_come_in_one_order(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        made: list[str] = []
        for number in range(6):
            driver = f"1.{number % 3}"
            device = devices.upsert(session, slug="b580", driver=driver, name="b", kind="gpu", emulates=None, spec={})
            job = rows.add_job(session, "b60", m=32 + number)
            job.device_id = device.id
            made.insert(0, str(rows.add_kernel(session, job, number).id))
        rows.add_kernel(session, rows.add_job(session, "b60"))
        found = newest(session, select(Kernel.id), "b580", 4)
        assert [str(kernel) for kernel in found] == made[:4]
        older = newest(session, select(Kernel.id).where(Kernel.id < found[-1]), "b580", 4)
        assert [str(kernel) for kernel in older] == made[4:]
        assert len(newest(session, select(Kernel.id), None, 10)) == 7


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"evidence": "measured"}, 2),
        ({"evidence": "predicted"}, 0),
        ({"evidence": "emulated"}, 0),
        ({"evidence": "none"}, 0),
        ({"device": "b580", "m": 96, "n": 64, "k": 128, "batch": 1, "dtype_a": "f16", "dtype_acc": "f32"}, 2),
        ({"quantization": ""}, 2),
        ({"quantization": "128:f16"}, 0),
        ({"m": 64}, 0),
        ({"dtype_c": "bf16"}, 0),
        ({"device": "a770"}, 0),
    ],
)
def test_filters_are_all_met(stored: TestClient, asked: dict[str, Any], count: int) -> None:
    assert len(listed(stored, **asked)) == count


@pytest.mark.parametrize("asked", [{"m": 0}, {"device": "\0"}, {"evidence": "hearsay"}, {"limit": 201}, {"x": 1}])
def test_what_cannot_be_asked_is_malformed(stored: TestClient, asked: dict[str, Any]) -> None:
    assert stored.get(PATH, params=asked).status_code == 422
