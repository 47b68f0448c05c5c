"""Our results in the formats of others, and back: what a format can hold is what comes back."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from db.schema.recording import RecordedTrial, Recording
from db.session import Database, open_database
from hal import ListedDevice
from hal.devices.listed import Runtime
from service.api.exchange.measuring import understand_space
from service.cli.main import main
from service.text.short_ids import SHORT
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, NOON, results, text_of
from tuner.exchange.formats import open_file, read_recorded, results_of, specification_of
from tuner.exchange.records import Record, TrialRecord
from tuner.session.trial import (
    Outcome,
    Status,
)

Run = Callable[..., int | str | None]
SIZE = ("--m", "96", "--n", "64", "--k", "128")
FAILURES = (Status.REJECTED, Status.COMPILE_FAILED, Status.WRONG_RESULT, Status.TIMED_OUT)


def failures() -> list[Record]:
    """Trials of every way to fail that the job of `lines` has not."""
    return [
        TrialRecord(JOB, 10 + i, lines.config(10 + i), Outcome(status, f"why {i}"), NOON, NOON)
        for i, status in enumerate(FAILURES)
    ]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, migrated_file: Path) -> Run:
    """`xetune` on a database of a name: `run("home", "export", ...)`; gives the exit status."""

    def called(place: str, *arguments: str) -> int | str | None:
        folder = tmp_path / place
        if not folder.exists():
            folder.mkdir()
            (folder / "xetune.sqlite").write_bytes(migrated_file.read_bytes())
        monkeypatch.setenv("XETUNE_DATA_DIR", str(folder))
        monkeypatch.delenv("XETUNE_DATABASE_URL", raising=False)
        monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return called


@pytest.fixture
def home(run: Run, tmp_path: Path) -> Run:
    """`run` with a job at home: two measured trials, one predicted, five that failed."""
    file = tmp_path / "results.jsonl"
    file.write_bytes(text_of([*results(), *failures()]))
    assert run("home", "import", str(file)) == 0
    return run


@pytest.fixture
def away(tmp_path: Path, home: Run) -> Generator[Database]:
    """The database that files are brought to."""
    assert home("away", "recordings") == 0
    opened = open_database(f"sqlite:///{tmp_path / 'away' / 'xetune.sqlite'}")
    yield opened
    opened.close()


def export(run: Run, file: Path, format: str, *which: str) -> Any:
    """Write a file from home and read it as JSON."""
    assert (
        run("home", "export", *(which or ("--job", JOB)), "--format", format, "--origin", "home", "-o", str(file)) == 0
    )
    return json.loads(file.read_text())


@pytest.mark.parametrize("format", ["kernel-tuner", "t4"])
@pytest.mark.slow
def test_a_job_comes_back_as_far_as_the_format_holds_it(
    home: Run, away: Database, tmp_path: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, again = tmp_path / "out.json", tmp_path / "again.json"
    export(home, file, format)
    assert "1 trial left out, predicted or with the time of another job" in capsys.readouterr().err
    assert home("away", "import", str(file)) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "7 configurations of 96x64x128 f16->f32 NN on b580, 2 with a time: imported from the lab as recording" in said
    )
    assert "measured elsewhere, not verified here" in said
    with away.read() as session:
        recording = session.scalars(select(Recording)).one()
        rows = {row.config_hash: row for row in session.scalars(select(RecordedTrial))}
    expected = [r for r in [*results(), *failures()] if isinstance(r, TrialRecord) and r.outcome.prediction is None]
    expected = [lines.measured(0, 50.0), lines.measured(1, 40.0), *(r for r in expected if r.outcome.reason)]
    assert len(rows) == len(expected)
    for record in expected:
        row, outcome = rows[record.config.key], record.outcome
        assert (row.status, row.reason) == (outcome.status.value, outcome.reason)
        assert row.compile_s == pytest.approx(outcome.compile_s)
        if outcome.measurement is not None:
            m = outcome.measurement
            found = row.time_us, row.min_us, row.p10_us, row.p90_us, row.samples
            assert found == pytest.approx((m.median_us, m.min_us, m.p10_us, m.p90_us, m.samples))
        assert row.tried_at is not None
        assert row.tried_at.isoformat() == NOON
    assert (recording.origin, recording.named, recording.label, recording.format) == (
        "the lab",
        lines.b580().name,
        "native",
        format,
    )
    # And out again, to the same file but for who wrote it.
    other = "t4" if format == "kernel-tuner" else "kernel-tuner"
    for of in (format, other):
        arguments = ("export", "--recording", str(recording.id), "--format", of, "-o", str(again))
        assert home("away", *arguments) == 0
        first, second = results_of(open_file(file)), results_of(open_file(again))
        assert second.source is not None
        assert first.source is not None
        assert replace(second.source, job=JOB) == first.source
        assert [t.status for t in second.tried] == [t.status for t in first.tried]
        assert read_recorded(again).times_us == pytest.approx(read_recorded(file).times_us, nan_ok=True)
    capsys.readouterr()
    assert home("away", "import", str(again), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "recording": str(recording.id),
        "new": False,
        "origin": "the lab",
        "configurations": 7,
        "timed": 2,
    }


def test_recordings_are_listed_and_shown_with_their_evidence(
    home: Run, away: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(home, tmp_path / "out.json", "t4")
    assert home("away", "import", str(tmp_path / "out.json"), "--origin", "lab 7") == 0
    capsys.readouterr()
    assert home("away", "recordings", "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)["recordings"]
    assert (listed["origin"], listed["tried"], listed["timed"], listed["best_us"]) == ("lab 7", 7, 2, pytest.approx(40))
    assert home("away", "recordings") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(listed["id"][:SHORT] in line and "lab" not in line for line in lines)
    assert any("2 of" in line for line in lines)
    assert max(map(len, map(str.rstrip, lines))) <= 80
    assert home("away", "recordings", "show", listed["id"], "--limit", "3") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "times measured elsewhere (lab 7, native, on " in shown
    assert "numbers not verified here" in shown
    assert "40.000 measured" in shown
    assert home("away", "recordings", "show", str(UUID(int=7))) == 2
    assert home("away", "jobs", "--json") == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == []


@pytest.mark.slow
def test_a_t1_file_holds_the_space_and_says_problem_and_device_of_another(
    home: Run, away: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.json"
    made = export(home, file, "t1")
    assert made["KernelSpecification"]["LocalSize"] == {"X": "64", "Y": "1", "Z": "1"}
    specification = specification_of(open_file(file))
    assert len(specification.configurations) == 7
    assert {each["prefetch_distance"] for each in specification.configurations} == {1, 2, 4, 11, 12, 13, 14}
    here = ListedDevice(lines.b580(), Runtime.OPENCL, None, runnable=True, targetable=True, note="")
    asked = understand_space("spec.json", specification, lambda _: here, None, 60.0)
    assert asked.job.problem == GEMM
    assert set(asked.configs) == {lines.config(n) for n in (0, 1, 3, 10, 11, 12, 13)}
    plain = tmp_path / "plain.json"
    document = export(home, plain, "kernel-tuner")
    del document["xetune"]
    plain.write_text(json.dumps(document))
    capsys.readouterr()
    assert home("away", "import", str(plain)) == 2
    assert "the file does not say the problem: give m, n, k and types" in capsys.readouterr().err
    assert home("away", "import", str(plain), *SIZE) == 2
    assert "does not say which device of this program it is of: give device" in capsys.readouterr().err
    assert home("away", "import", str(file)) == 2
    assert "b580 is not in this machine" in capsys.readouterr().err
    assert home("away", "import", str(plain), "--spec", str(file)) == 0
    assert home("away", "import", str(plain), *SIZE, "--device", "b60") == 0
    with away.read() as session:
        assert session.scalars(select(func.count()).select_from(Recording)).one() == 2


@pytest.mark.slow
def test_what_cannot_be_exported_or_imported_is_said(
    home: Run, away: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "foreign.json"
    document = export(home, foreign, "kernel-tuner")
    other = {"device_name": "X", "kernel_name": "k", "tune_params_keys": ["bx"], "cache": {"1": {"bx": 1, "time": 2}}}
    (tmp_path / "other.json").write_text(json.dumps(other))
    document["cache"][next(iter(document["cache"]))]["block_m"] = 0
    (tmp_path / "bad.json").write_text(json.dumps(document))

    def spoiled(name: str, **changes: object) -> str:
        made = export(home, tmp_path / name, "t4")
        made["results"][0] |= changes
        (tmp_path / name).write_text(json.dumps(made))
        return str(tmp_path / name)

    def time(value: float, samples: int = 1) -> list[dict[str, Any]]:
        spread: list[dict[str, Any]] = [
            {"name": f"time_{of}", "value": value, "unit": "ms"} for of in ("min", "p10", "p90")
        ]
        counted: dict[str, Any] = {"name": "samples", "value": samples}
        return [{"name": "time", "value": value, "unit": "ms"}, *spread, counted]

    nul = [{"name": "reason", "value": "a\0b", "unit": ""}]
    mislabelled = export(home, tmp_path / "label.json", "t4")
    mislabelled["metadata"]["xetune"]["label"] = "fast"
    (tmp_path / "label.json").write_text(json.dumps(mislabelled))
    cases = [
        (("export", "--format", "t4"), "expected one --job or --recording with --format kernel-tuner, t1 or t4"),
        (("export", "--format", "t4", "--job", JOB, "--device", "b580"), "--format t4 takes --job or --recording"),
        (("export", "--format", "t4", "--job", str(UUID(int=1))), f"job {UUID(int=1)} does not exist"),
        (("import", str(foreign), "--m", "8", "--n", "8", "--k", "8"), "is of 96x64x128 f16->f32 NN: leave m, n, k"),
        (("import", str(foreign), "--device", "b60"), "--device: the file is of b580: leave device out"),
        (("import", str(tmp_path / "other.json"), *SIZE, "--device", "b580"), "and unknown ones: bx; `xetune replay`"),
        (("import", str(tmp_path / "bad.json")), "expected"),
        (("import", spoiled("long.json", measurements=time(1e12))), "configuration 0: expected a time of 1e-06 to"),
        (("import", spoiled("many.json", measurements=time(1.0, 2**40))), "expected 1 to 2147483647 samples"),
        (("import", spoiled("nul.json", measurements=nul, invalidity="runtime")), "text without NUL"),
        (("import", str(tmp_path / "label.json")), "label: expected one of native, DPAS emulated, got 'fast'"),
        (("import", str(tmp_path / "results.jsonl"), "--device", "b580"), "JSON lines say the problem and the device"),
        (("import", str(tmp_path / "results.jsonl"), "--format", "t4"), "expected one JSON object"),
    ]
    for arguments, message in cases:
        capsys.readouterr()
        assert home("away" if arguments[0] == "import" else "home", *arguments) == 2, arguments
        said = capsys.readouterr().err
        assert (said.count("\n"), message in said) == (1, True), said
    with away.read() as session:
        assert session.scalars(select(func.count()).select_from(Recording)).one() == 0


def test_a_job_without_a_measurement_is_refused(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [*results()[:3], lines.job(best=2), lines.predicted(2, 30.0), lines.failed(3)]
    (tmp_path / "results.jsonl").write_bytes(text_of(records))
    assert run("home", "import", str(tmp_path / "results.jsonl")) == 0
    assert run("home", "export", "--job", JOB, "--format", "t4") == 2
    assert f"job {JOB} measured nothing: this format holds measurements" in capsys.readouterr().err


def test_the_schemas_of_kernel_tuner_hold_for_what_is_written(home: Run, tmp_path: Path) -> None:
    """Its own schema files and its own replay, if it is installed: pip install kernel_tuner."""
    pytest.importorskip("kernel_tuner", reason="Kernel Tuner is not installed")
    files = {format: tmp_path / f"{format}.json" for format in ("kernel-tuner", "t1", "t4")}
    for format, file in files.items():
        export(home, file, format)
    # In a process of its own: its imports warn.
    check = """
import sys, json, jsonschema
from pathlib import Path
from kernel_tuner import file_utils, util, tune_kernel
from kernel_tuner.interface import tune_cache
cache, t1, t4 = map(Path, sys.argv[1:])
jsonschema.validate(json.loads(t1.read_text()), file_utils.input_file_schema()[1])
jsonschema.validate(json.loads(t4.read_text()), file_utils.output_file_schema("results")[1])
found = util.read_cache(str(cache), open_cache=False)
assert [e["time"] for e in found["cache"].values() if "__error__" not in e] == [0.05, 0.04], found
results, env = tune_cache(str(cache), strategy="brute_force")
print(min(r["time"] for r in results if "__error__" not in r))
"""
    paths = [str(files[format]) for format in ("kernel-tuner", "t1", "t4")]
    found = subprocess.run(
        [sys.executable, "-c", check, *paths], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip().splitlines()[-1] == "0.04"
