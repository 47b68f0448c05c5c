"""xetune explain: a table and a picture for people, the same numbers as JSON, refusals in one line."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from codegen import Extent, GemmProblem, MatmulConfig, Refused, XeConfig, XeStrategy
from hal import find
from hal.probe.probe import probe_opencl, probe_sycl
from hal.process.child import Child
from service.api.accuracy.schemas import AccuracyList
from service.cli.app import app
from service.cli.compiler.inspection.explaining import render_explanation
from tuner.errors import CannotPredict
from tuner.model.xe import MODEL_VERSION, PARTS, explain

SIZE = ("--m", "4096", "--n", "2048", "--k", "8192")


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the test's own, without a database."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))


def _explained(*options: str) -> str:
    return CliRunner().invoke(app, ["explain", *options], catch_exceptions=False, standalone_mode=False).output


def test_people_see_the_parts_and_a_roofline() -> None:
    shown = _explained(*SIZE, "--device", "b580")
    assert "bound by       multiply" in shown
    assert MODEL_VERSION in shown
    for part in set(PARTS) - {"spills", "kernels"}:
        assert f"\n {part} " in shown
    assert "No time: spills, kernels." in shown
    assert " us" not in shown  # one unit a page
    assert "times what the operands hold" in shown
    assert max(map(len, shown.partition("configuration")[2].splitlines()[1:])) <= 80


def test_the_explanation_is_printed_before_the_database_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(device: str, probes: object) -> AccuracyList:
        assert callable(probes)
        print(f"asked for {device}")
        return AccuracyList(device=device, models=[])

    monkeypatch.setattr("service.cli.devices.accuracy.known_accuracy", known)
    shown = _explained(*SIZE, "--device", "b580")
    assert shown.index("configuration") < shown.index("bound by") < shown.index("asked for b580")


def test_the_drivers_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[object]()
    send = Child.send

    def counted(child: Child, function: Callable[..., object], *arguments: object) -> None:
        started.append(function)
        send(child, function, *arguments)

    monkeypatch.setattr(Child, "send", counted)
    assert "predictions for b580" not in _explained(*SIZE, "--device", "b580")  # the database was asked
    assert started == [probe_opencl, probe_sycl]


def test_people_see_how_many_registers_spill() -> None:
    problem, b580 = GemmProblem(4096, 2048, 8192), find("b580")
    matmul = MatmulConfig(Extent(8, 8, 1), Extent(512, 256, 32), Extent(32, 32, 32))
    explained = explain(problem, XeConfig(matmul, XeStrategy((8, 4))), b580)
    console = Console(width=80, record=True, file=StringIO())
    console.print(render_explanation(explained))
    shown = console.export_text()
    assert "bound by       spills" in shown
    assert f"registers needed of 256; in memory: {explained.registers_spilled}" in shown
    assert "No time: kernels." in shown


def test_programs_get_the_same_as_json() -> None:
    document = json.loads(_explained(*SIZE, "--device", "b60", "--json"))
    assert document["low_us"] < document["time_us"] < document["high_us"]
    assert set(document["parts_us"]) == set(PARTS)
    assert [ceiling["level"] for ceiling in document["ceilings"]] == ["L1", "L2", "memory"]
    assert document["tflops"] < document["peak_tflops"] == pytest.approx(98.3, rel=0.01)


def test_a_setting_changes_the_time() -> None:
    without = ("--set", "prefetch.levels=none", "--set", "prefetch.distance=0")
    times = [json.loads(_explained(*SIZE, "--json", *options))["time_us"] for options in ((), without)]
    assert times[1] > 1.2 * times[0]


def test_what_is_not_legal_is_refused() -> None:
    with pytest.raises(Refused, match="registers"):
        _explained(*SIZE, "--set", "grf_mode=128", "--set", "block=256x256x32", "--set", "sg_layout=8x4")


def test_what_is_not_said_follows_from_what_is() -> None:
    assert "grf 128" in _explained(*SIZE, "--set", "grf_mode=128")


def test_a_missing_fact_is_named() -> None:
    with pytest.raises(CannotPredict, match=r"^clock_mhz of Intel Data Center GPU Max 1350"):
        _explained(*SIZE, "--device", "max1350")


def test_an_assumed_size_of_l2_is_said() -> None:
    shown = _explained(*SIZE, "--device", "b65")
    assert "assumed L2 of 20 MiB; the interval covers 10 to 30 MiB" in " ".join(shown.split())
    assert f"model {MODEL_VERSION}, L2 assumed" in " ".join(shown.split())  # it may be wrapped
    assert "assumed" not in _explained(*SIZE, "--device", "b70")
    document = json.loads(_explained(*SIZE, "--device", "b65", "--json"))
    assert document["assumed"] == {"l2_bytes": [20 << 20, 10 << 20, 30 << 20]}
    assert json.loads(_explained(*SIZE, "--device", "b70", "--json"))["assumed"] == {}


def test_a_thin_problem_fits_the_picture() -> None:
    shown = _explained("--m", "1", "--n", "4096", "--k", "14336", "--device", "max1100")
    assert "this configuration at: 1 L1, 2 L2, 3 memory" in shown
    assert max(map(len, shown.splitlines())) <= 120
