"""`xetune explain` on a CPU: the steps with their reasons, and the traffic of a configuration against what is held."""

import json

import pytest
from typer.testing import CliRunner

from codegen import DType, GemmProblem
from hal.devices.listed import NATIVE, ListedDevice, Runtime
from service.cli.app import app
from tests.tuner.fakes import cpu_spec
from tuner.backend import tuning_for

SPEC = cpu_spec()
PROBLEM = GemmProblem(200, 384, 640, dtype_a=DType.BF16, dtype_b=DType.BF16)
ASKED = ("explain", "--m", "200", "--n", "384", "--k", "640", "--dtype", "bf16", "--device", "cpu")


@pytest.fixture(autouse=True)
def own_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's CPU is."""
    here = ListedDevice(SPEC, Runtime.HOST, NATIVE, runnable=True, targetable=True, note="")

    def named(*_: object) -> ListedDevice:
        return here

    monkeypatch.setattr("service.cli.options.device_file.named_device", named)


def _explain(*more: str) -> str:
    result = CliRunner().invoke(app, [*ASKED, *more])
    assert result.exit_code == 0, result.output
    return result.output


def test_people_see_the_steps_and_a_table_of_traffic() -> None:
    seen = _explain()
    for said in ("innermost", "threads", "block", "loop order", "steps to it", "into L1", "into L2", "into L3", "held"):
        assert said in seen
    assert str(tuning_for(SPEC).default(PROBLEM, SPEC)) in " ".join(seen.split())
    assert "480.0 KiB" in seen, "B holds 384 x 640 of two bytes"


def test_another_configuration_is_not_explained_by_the_default_s_steps() -> None:
    assert "steps to the default, which this is not" in " ".join(_explain("--set", "threads=1x1x1").split())


def test_programs_get_bytes() -> None:
    found = json.loads(_explain("--json", "--set", "threads=1x1x1"))
    assert [step["name"] for step in found["default_steps"]] == ["innermost", "threads", "block", "loop order"]
    assert found["operand_bytes"] == {"a": 200 * 640 * 2, "b": 640 * 384 * 2, "c": 200 * 384 * 4}
    assert found["flops"] == 2 * 200 * 384 * 640
    assert [level["into"] for level in found["traffic_bytes"]] == ["L1", "L2", "L3"]
    for level in found["traffic_bytes"]:
        assert level["total"] == level["a"] + level["b"] + level["c"] + level["packing"]
    assert found["config"]["matmul"]["threads"] == {"m": 1, "n": 1, "k": 1}


def test_a_configuration_that_is_not_legal_is_refused() -> None:
    result = CliRunner().invoke(app, [*ASKED, "--set", "threads=3x1x1"])
    assert "threads" in str(result.exception)
