"""The command line answers bad input with one line and status 2, and prints JSON that parses."""

import json
import logging
import re
import shlex
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from db.queries import jobs
from db.queries.results import predictions, trials
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.session import Database, open_database
from service.api.audit.log import record
from service.api.keys.caller import Caller
from service.api.keys.scope import Scope
from service.cli.access.opening import open_access_of
from service.cli.main import main
from service.cli.printing.evidence import shown_files
from service.cli.printing.output import CONSOLE
from service.cli.tuning.results import print_job
from tests.service import dashboard_rows as rows

SIZE = ("--m", "512", "--n", "384", "--k", "1024")
UNKNOWN = "01970a3c-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A data folder of the test's own; the handlers of the log are put back."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers = []
    yield
    root.handlers, root.level = before


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """The database that the commands use."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """`xetune` with those arguments; its exit status."""
    monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_a_negative_size_is_no_option(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "tune", "64", "96", "-128") == 2
    assert capsys.readouterr().err.endswith("expected a positive number, got -128\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "--m", "0", "--n", "384", "--k", "1024"), "error: m: expected 1 to"),
        (("tune", "--m", "512", "--n", "-3", "--k", "1024"), "error: n: expected 1 to"),
        (("tune", "--m", "512", "--n", "384", "--k", "9" * 25), "error: k: expected 1 to"),
        (("tune", "--m", "512"), "error: sizes: give M N K or MxNxK"),
        (("tune", *SIZE, "--lda", "3"), "error: lda: expected at least"),
        (("tune", *SIZE, "--epilogue", "relu, clip=6..1"), "error: epilogue: step 2, 'clip=6..1': clip needs value <="),
        (("tune", *SIZE, "--epilogue", ",".join(["relu"] * 100)), "error: epilogue: expected at most 16 steps"),
        (("tune", *SIZE, "--batch", "2", "--batch-stride-c", "5"), "error: batch_stride_c: expected at least"),
        (("tune", *SIZE, "--dtype-a", "u8", "--dtype-b", "tf32"), "error: refused by rule dtype-pair: "),
        (("compile", *SIZE, "-o", "out", "--set", "blok=1"), "error: --set: expected NAME=VALUE with one of"),
        (("compile", *SIZE, "-o", "out", "--epilogue", "alpha=nan"), "error: epilogue: step 1, 'alpha=nan': alpha: "),
        (("tune", *SIZE, "--seconds", "nan"), "error: --seconds: "),
        (("tune", *SIZE, "--seconds", "0"), "error: --seconds: expected more than 0"),
        (("tune", *SIZE, "--trials", "0"), "error: --trials: expected more than 0"),
        (("tune", *SIZE, "--seed", "9" * 20), "error: --seed: "),
        (("tune", *SIZE, "--device", ""), "error: --device: "),
        (("tune", *SIZE, "--target", ""), "error: --target: "),
        (("tune", *SIZE, "--device", "nosuch"), "error: --device: no device is known as 'nosuch'"),
        (
            ("tune", *SIZE, "--device", "max1350"),
            "error: refused by rule cannot-predict: clock_mhz of Intel Data Center GPU Max 1350, one stack is not",
        ),
        (("compile", *SIZE, "-o", "out", "--device", ""), "error: no device is known as ''"),
        (
            ("compile", *SIZE, "-o", "out", "--device", "nvl-s"),
            "error: refused by rule device-target: kernels cannot be compiled",
        ),
        (
            ("tune", *SIZE, "--device", "mtl", "--dtype", "tf32"),
            "error: refused by rule device-tf32: Intel Meteor Lake-H has no",
        ),
        (
            ("tune", *SIZE, "--device", "wildcat-lake"),
            "error: refused by rule device-target: kernels cannot be compiled",
        ),
        (
            ("compile", *SIZE, "-o", "out", "--device", "20.2"),
            "error: IP version 20.2 is that of several GPUs, name one",
        ),
        (
            ("tune", "--shapes", "m=1,16 n=48 k=64", "-o", "out"),
            "error: -o: expected one GEMM, got --shapes",
        ),
        (("tune", *SIZE, "--device", "b5800"), "error: --device: no device is known as 'b5800'; did you mean 'b580'"),
        (("devices", "show", "nosuch"), "error: no device is known as 'nosuch'"),
        (("devices", "show", "bmgg"), "error: no device is known as 'bmgg'; did you mean 'bmg'"),
        (("kernels", "--m", "512"), "error: sizes: give M N K or MxNxK"),
        (("kernels", *SIZE, "--device", "max1550vg"), "error: no kernel is stored for 512x384x1024"),
        (("keys", "create", "x", "--expires", "99999999d"), "error: --expires: expected 1d to 9999d, got '99999999d'"),
        (("keys", "create", "x", "--expires", "soon"), "error: --expires: expected a number and h, d or w"),
        (("keys", "revoke", "nobody"), "error: no key in use is named 'nobody'"),
        (("schedules", "create", "x", "--cron", "bad", "--stale", "1"), "error: --cron: expected five fields"),
        (
            ("schedules", "create", "x", "--cron", "0 1 * * *", "--stale", "0"),
            "error: --stale: expected at least 1, got 0",
        ),
        (
            ("schedules", "create", "x", "--cron", "0 1 * * *", "--stale", "1", "--missed", "some"),
            "error: --missed: expected 'skip', 'once' or 'all', got 'some'",
        ),
        (("jobs", "show", UNKNOWN), f"error: job {UNKNOWN} does not exist; `xetune jobs` lists"),
        (("jobs", "cancel", UNKNOWN), f"error: job {UNKNOWN} does not exist; `xetune jobs` lists"),
        (("jobs", "resume", UNKNOWN), f"error: job {UNKNOWN} does not exist; `xetune jobs` lists"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1), said.err
    assert said.err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "--m", "4.5", "--n", "384", "--k", "1024"), "Invalid value for '--m'"),
        (("tune", *SIZE, "--dtype", "f15"), "Invalid value for '--dtype'"),
        (("tune", *SIZE, "--trials", "9" * 400), "Invalid value for '--trials'"),
        (("tune", *SIZE, "--seed", "-1"), "Invalid value for '--seed'"),
        (("tune", *SIZE, "--layout", "nm"), "Invalid value for '--layout'"),
        (("tune", "--problem", "nosuch.json"), "Invalid value for '--problem'"),
        (
            ("jobs", "show", "nonsense"),
            "at least its first 4 characters, or last; got 'nonsense'",
        ),
        (("keys", "create", "x", "--scope", "root"), "'--scope': 'root' is not one of 'read', 'tune', 'admin'."),
        (("schedules", "next", "x", "--count", "101"), "expected at most 100, got '101'"),
        (("schedules", "history", "x", "--before", f"{2**62 + 1}"), f"expected at most {2**62}, got"),
        (("kernels", "host-code", "last", "cpp", "-o", "p.cpp"), "expected a folder, for the program and the kernel's"),
        (("nonsense",), "No such command"),
    ],
)
def test_what_cannot_be_read_as_an_option_is_told_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    assert message in capsys.readouterr().err


def test_a_gemm_is_compiled_by_its_sizes_and_a_file_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ("--dtype", "bf16", "--device", "b580", "-o", str(tmp_path / "out"))
    assert run(monkeypatch, "compile", "8x16x48", *out) == 0
    assert capsys.readouterr().out.startswith("8x16x48 bf16->f32 NN for b580\n")
    for said, message in (
        (("8", "16"), "error: sizes: expected M N K, or MxNxK as in 512x384x1024, got 8 16\n"),
        (("none.mlir",), "expected M N K or a file that exists, got 'none.mlir'"),
        (("8x16x48", "--m", "8"), "error: sizes: expected them once, got 8 16 48 and --m\n"),
    ):
        assert run(monkeypatch, "compile", *said, *out) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a configuration as JSON: "),
        ("9" * 5000, "expected a configuration as JSON: "),
        ("[]", "expected an object, got []"),
        ("{}", "missing matmul, strategy"),
        ('{"matmul": {}, "strategy": {}, "more": 1}', "more: unknown field"),
    ],
)
def test_a_configuration_that_cannot_be_read_names_its_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    assert run(monkeypatch, "compile", *SIZE, "-o", str(tmp_path / "out"), "--config", str(file)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: --config {file}: {message}")
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def stored_job(database: Database, error: str | None = None) -> UUID:
    """A job that ended: with two measured trials, or failed with that error."""
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "failed" if error else "succeeded")
        if error:
            job.error = error
        else:
            kernel = rows.add_kernel(session, job, problem)
            rows.add_measured(session, job, 0, 3000.0, kernel.id)
            rows.add_measured(session, job, 1, 1500.0, kernel.id)
            jobs.update_best(session, job.id)
        return job.id


def test_json_parses_and_carries_the_evidence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database: Database
) -> None:
    job_id = stored_job(database)

    def document(*arguments: str) -> dict[str, Any]:
        assert run(monkeypatch, *arguments, "--json") == 0
        said = capsys.readouterr()
        assert said.err == ""
        read: dict[str, Any] = json.loads(said.out)
        return read

    assert [job["id"] for job in document("jobs")["jobs"]] == [str(job_id)]
    shown = document("jobs", "show", str(job_id))
    assert [trial["number"] for trial in shown["trials"]] == [1, 0], "fastest first"
    (kernel,) = document("kernels")["kernels"]
    assert kernel["evidence"]["time"]["value"] == 1500.0
    assert document("devices", "show", "b580")["devices"][0]["id"] == "b580"


def test_a_measured_time_is_shown_against_what_the_model_predicted(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "succeeded")
        kernel = rows.add_kernel(session, job, problem)
        for number, (median_us, predicted_us) in enumerate(((300.0, 100.0), (150.0, 120.0), (180.0, 200.0))):
            rows.predict(session, rows.add_measured(session, job, number, median_us, kernel.id), predicted_us)
        predictions.judge(session, problem.id, "opencl-cpu-as-b580")
        jobs.update_best(session, job.id)
    with open_access_of(None) as access:
        print_job(access, job.id, as_json=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "measured over predicted by xe-1: median 1.25, 0.90 to 3.00; 2 of 3 in the interval" in shown
    assert "1.25 times predicted" in shown


def test_a_default_that_is_kept_within_the_resolution_of_the_model_is_explained(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session, "b580", None))
        for number, time_us in enumerate((101.0, 100.0, 140.0)):
            rows.add_predicted(session, job, number, time_us)
        jobs.update_best(session, job.id)
        job_id = job.id
    assert run(monkeypatch, "jobs", "show", str(job_id)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "choice the default is kept: trial 1 gains 1.0% by prediction" in shown
    assert "=: verified, predicted within 7% of the least time, which the model does not tell apart" in shown
    assert ("1= 1 " in shown, "2= default" in shown, "3 2 " in shown) == (True, True, True)


def test_a_job_says_what_its_device_does_without(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job_id = stored_job(database)
    with database.write() as session:
        jobs.set_restrictions(session, job_id, [{"name": "no-slm", "check": "gemm-slm-barrier", "reason": "crashed"}])
    assert run(monkeypatch, "jobs", "show", str(job_id)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "no shared local memory on opencl-cpu-as-b580, since gemm-slm-barrier of `xetune doctor` failed: crashed"
        in (shown)
    )


def test_a_winner_that_was_not_compared_and_a_kernel_given_up_early_say_so(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job_id = stored_job(database)
    with database.write() as session:
        *_, last = trials.list_page(session, job_id)
        assert last.measurement is not None
        last.measurement.stopped_early, last.measurement.samples = True, 4
        job = session.get(Job, job_id)
        assert job is not None
        job.compared_default_us = job.compared_best_us = None
        job.best_trial_id = last.id
        jobs.set_stop(session, job_id, "seconds")
    assert run(monkeypatch, "jobs", "show", str(job_id)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "4 samples, stopped early" in shown
    assert "ended: the time budget is spent" in shown
    assert "not measured interleaved with the default: this is the least of single trials" in shown


def test_a_job_fits_80_columns_and_no_time_or_proof_is_cut(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    job_id = stored_job(database)
    with database.write() as session:
        for trial in trials.list_page(session, job_id):
            trial.proof_kind, trial.proof_checked, trial.proof_total = "simulator", 1024, 16384
            assert trial.measurement is not None
            m = trial.measurement
            m.min_us, m.p10_us, m.median_us, m.p90_us = 1234.5, 1234.5, 2345.6, 3456.7
    assert run(monkeypatch, "jobs", "show", str(job_id)) == 0
    table = capsys.readouterr().out.partition("rank")[2].partition("winner:")[0]
    assert max(len(line.rstrip()) for line in table.splitlines()) <= 80
    assert ("2.346 ms (1.234, 3.457)" in table, "1024/16384" in table) == (True, True)
    assert run(monkeypatch, "jobs") == 0
    assert "2.346 ms (1.234, 3.457)" in capsys.readouterr().out


def test_what_no_terminal_shows_is_not_cut_to_a_width(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(CONSOLE, "_width", None)  # COLUMNS, where it was set before
    subject = "01970a3c-0000-7000-8000-000000000000"
    assert run(monkeypatch, "keys", "create", "nightly CI", "--scope", "tune") == 0
    capsys.readouterr()
    assert run(monkeypatch, "keys", "--json") == 0
    (key,) = json.loads(capsys.readouterr().out)["keys"]
    with database.write() as session:
        record(session, Caller(key["name"], Scope.TUNE, UUID(key["id"])), "schedule.create", subject)
    assert run(monkeypatch, "audit") == 0
    first, second = capsys.readouterr().out.splitlines()[3:5]
    assert (f"nightly CI ({key['prefix']})" in first, subject in first) == (True, True)
    assert second.split() == ["schedule.create", "done"]
    assert run(monkeypatch, "recordings") == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_files_are_listed_below_each_other() -> None:
    lines = list(shown_files({"deep-tiled.mlir": "/a", "kernel.o": "/b"}))
    assert lines == ["  deep-tiled.mlir /a", "  kernel.o        /b"]


def test_brackets_in_an_error_are_shown_as_they_are(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    job_id = stored_job(database, "internal: cannot read [/foo] of [bold]x[/bold]")
    with open_access_of(None) as access:
        print_job(access, job_id, as_json=False)
    assert "internal: cannot read [/foo] of [bold]x[/bold]" in capsys.readouterr().out
    CONSOLE.print("[/foo]")
    assert capsys.readouterr().out == "[/foo]\n"


def test_a_lookup_without_a_result_prints_the_command_that_tunes(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("96", "160", "224", "--dtype", "bf16", "--layout", "nt", "--epilogue", "bias:column, gelu")
    assert run(monkeypatch, "kernels", *asked, "--device", "b580") == 0
    answer = capsys.readouterr().out
    (command,) = re.findall("`(xetune tune [^`]*)`", answer)
    told = shlex.split(command)
    assert told[:7] == ["xetune", "tune", "96", "160", "224", "--dtype", "bf16"]
    assert told[-2:] == ["--device", "b580"]
    assert run(monkeypatch, "kernels", *told[2:]) == 0  # which reads them as the same problem
    assert capsys.readouterr().out == answer


def test_a_reused_time_says_what_it_is_expected_to_be_now(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        before, job = (rows.add_job(session, problem, device) for _ in range(2))
        kernel = rows.add_kernel(session, before, problem)
        source = rows.add_measured(session, before, 7, 80.0, kernel.id, "native")
        rows.add_measured(session, job, 0, 100.0, kernel.id, "native")
        taken = rows.add_measured(session, job, 1, 80.0, kernel.id, "native")
        session.add(Reuse(trial_id=taken.id, source_trial_id=source.id, scale=2.0))
        jobs.set_best(session, job.id, 0)
    monkeypatch.setenv("COLUMNS", "160")
    assert run(monkeypatch, "jobs", "show", str(job.id)) == 0
    shown = capsys.readouterr().out
    assert shown.index("100 us") < shown.index("80 us")  # by what is expected now
    assert "of an earlier job," in shown
    assert "160 us expected now" in shown
