"""Kernels compile for a CPU of another machine, described by a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hal import UnknownDevice
from hal.devices.listed import NATIVE, ListedDevice, Runtime
from service.api.devices.service import describe
from service.cli.app import app
from service.cli.devices.tables import devices_json
from service.cli.options.device_file import named_device
from service.errors import BadRequest
from tests.tuner.fakes import cpu_spec

SPEC = cpu_spec()
ASKED = ("compile", "--m", "24", "--n", "96", "--k", "40", "--dtype", "bf16")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the other machine's description of its CPU."""
    there = ListedDevice(SPEC, Runtime.HOST, NATIVE, runnable=True, targetable=True, note="")
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"devices": devices_json([describe(there)])}))
    return path


def test_a_file_tells_every_fact_and_that_the_device_is_not_here(file: Path) -> None:
    found = named_device(str(file), None)
    assert found.spec == SPEC
    assert not found.runnable
    assert found.targetable


def test_a_kernel_is_compiled_for_it_and_not_run(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kernel"
    result = CliRunner().invoke(app, [*ASKED, "--device", str(file), "-o", str(folder), "--set", "pack_b=beforehand"])
    assert result.exit_code == 0, result.output
    document = json.loads((folder / "kernel.json").read_text())
    assert document["compiled_for"] == SPEC.id
    assert set(document["needs"]) <= set(SPEC.isa or ())
    assert [step["once"] for step in document["steps"]] == [True, False]
    assert (folder / "kernel.o").read_bytes()[:4] == b"\x7fELF"
    refused = CliRunner().invoke(app, [*ASKED, "--device", str(file), "-o", str(folder), "--verify"])
    assert isinstance(refused.exception, UnknownDevice)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("devices"), "expected what `xetune devices show NAME --json` prints of one device"),
        (lambda d: d["devices"].append(d["devices"][0]), "of one device"),
        (
            lambda d: d["devices"][0]["facts"].update(isa={"value": "avx2", "provenance": "probed"}),
            "isa: expected a list",
        ),
        (lambda d: d["devices"][0]["facts"].update(cores=3), "of one device"),
        (lambda d: d["devices"][0]["facts"].update(speed={"value": 3, "provenance": "probed"}), "speed: unknown field"),
        (lambda d: d["devices"][0].update(kind="npu"), "kind: expected one of gpu, cpu"),
    ],
)
def test_a_file_that_tells_of_no_device_is_named(
    file: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    with pytest.raises(BadRequest, match=message) as refused:
        named_device(str(file), None)
    assert str(file) in str(refused.value)


def test_a_file_that_is_not_there_or_no_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="No such file"):
        named_device(str(tmp_path / "none.json"), None)
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(BadRequest, match="expected a device as JSON"):
        named_device(str(tmp_path / "text.json"), None)
