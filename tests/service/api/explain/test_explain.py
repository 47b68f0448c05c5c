"""POST /v1/explain says what `xetune explain --json` says, of any legal configuration; refusals name the rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from service.cli.app import app as command_line
from service.settings import Settings
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock

SIZE = {"m": 512, "n": 384, "k": 1024}
OPTIONS = ("--m", "512", "--n", "384", "--k", "1024")
CONFIG: dict[str, Any] = {
    "matmul": {
        "threads": {"m": 2, "n": 3, "k": 1},
        "block": {"m": 256, "n": 128, "k": 32},
        "innermost": {"m": 32, "n": 16, "k": 16},
    },
    "strategy": {"sg_layout": [8, 4], "grf_mode": 256},
}


@pytest.fixture
def large(settings: Settings, clock: Clock) -> TestClient:
    """A client of a service that takes whole configurations."""
    return client_of(settings, clock, max_body_bytes=2**20)


def test_it_is_what_the_command_line_says(large: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path / "empty"))
    said = CliRunner().invoke(command_line, ["explain", *OPTIONS, "--device", "b580", "--json"])
    answer = large.post("/v1/explain", json={"problem": SIZE, "device": "b580"})
    assert answer.status_code == 200, answer.text
    assert answer.json() == json.loads(said.output)
    assert answer.json()["accuracy"] == []


def test_any_legal_configuration_is_explained(large: TestClient) -> None:
    def explained(config: object) -> Any:
        answer = large.post("/v1/explain", json={"problem": SIZE, "device": "b580", "config": config})
        assert answer.status_code == 200, answer.text
        return answer.json()

    default, own = explained(None), explained(CONFIG)
    assert own["config"]["matmul"]["block"] == CONFIG["matmul"]["block"]
    assert own["work_groups"] == 6
    assert own["time_us"] > default["time_us"]
    assert explained(default["config"]) == default


def test_a_cpu_says_why_its_default_is_so(large: TestClient) -> None:
    answer = large.post("/v1/explain", json={"problem": SIZE | {"dtype_a": "f32", "dtype_b": "f32"}, "device": "cpu"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["operand_bytes"] == {"a": 512 * 1024 * 4, "b": 1024 * 384 * 4, "c": 512 * 384 * 4}
    assert found["flops"] == 2 * 512 * 384 * 1024
    assert all(row["total"] == row["a"] + row["b"] + row["c"] + row["packing"] for row in found["traffic_bytes"])
    assert [step["name"] for step in found["default_steps"]]


@pytest.mark.parametrize(
    ("changes", "status", "rule"),
    [
        ({"config": CONFIG | {"strategy": {"sg_layout": [4, 2], "grf_mode": 128}}}, 409, "registers"),
        ({"config": CONFIG | {"strategy": {"sg_layout": [0, 4]}}}, 400, "invalid-request"),
        ({"problem": {"m": 2**24, "n": 2**24, "k": 64}}, 400, "problem-bytes"),
        ({"device": "max1350"}, 409, "cannot-predict"),
        ({"device": "nosuch"}, 400, "unknown-device"),
        ({"budget": 1}, 422, "unknown-field"),
    ],
)
def test_what_cannot_be_explained_says_which_rule(
    large: TestClient, changes: dict[str, object], status: int, rule: str | None
) -> None:
    answer = large.post("/v1/explain", json={"problem": SIZE, "device": "b580"} | changes)
    assert (answer.status_code, answer.json().get("rule")) == (status, rule), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
