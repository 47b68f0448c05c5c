"""xetune export, import and measure, as a person runs them between two machines."""

import io
import json
import re
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from sqlalchemy import update

from db.schema.kernel import Kernel
from db.schema.trial import Trial
from db.session import Database, open_database
from hal import find
from service.artifacts import ArtifactStore
from service.cli.access.opening import Access, open_access_of
from service.cli.exchange.measuring import results as measured
from service.cli.main import main
from service.cli.tuning.actions import cancellation_of
from service.errors import Conflict
from tests.service.api.exchange.data_folders import take_in
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, read, results, text_of
from tuner.session.result import Stop

SIZE = ("--m", "96", "--n", "64", "--k", "128")
Run = Callable[..., int | str | None]


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """The database that the commands use."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sqlite_url: str) -> Run:
    """`xetune` with arguments, on the test's database; gives the exit status."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)

    def called(*arguments: str) -> int | str | None:
        monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return called


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of results."""
    path = tmp_path / "results.jsonl"
    path.write_bytes(text_of(results()))
    return path


def test_an_export_with_a_row_that_cannot_be_read_writes_nothing(
    run: Run, file: Path, database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", str(file)) == 0
    with database.write() as session:
        session.execute(update(Trial).where(Trial.number == 1).values(config={}))
    assert run("export", "-o", str(tmp_path / "out.jsonl")) == 2
    assert f"nothing is written: trial 1 of job {JOB} cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("table", "row"), [(Trial, f"trial 0 of job {JOB}"), (Kernel, "kernel ")])
def test_results_of_a_job_are_whole_or_an_error(
    run: Run, file: Path, database: Database, table: type[Trial | Kernel], row: str
) -> None:
    assert run("import", str(file)) == 0
    with database.write() as session:
        session.execute(update(table).values(config={}))
    with open_access_of(None) as access, pytest.raises(Conflict, match=rf"nothing is written: {row}.* cannot be read"):
        measured(access, [UUID(JOB)], None)


def test_import_says_what_it_did_and_twice_that_it_did_nothing(
    run: Run, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", str(file)) == 0
    said = capsys.readouterr().out
    assert "4 trials of 1 job with 2 kernels imported from the lab; 0 trials were here before" in said
    assert "1 prediction is now compared with a measurement: `xetune devices show b580`" in said
    assert run("import", str(file), "--json") == 0
    done = json.loads(capsys.readouterr().out)
    nothing = dict.fromkeys(("jobs", "trials", "kernels", "records"), 0)
    assert done == {"origin": "the lab", **nothing, "known": 4, "judged": {}}


def test_a_bad_line_is_one_line_of_text_and_nothing_is_written(
    run: Run, file: Path, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(file.read_bytes().replace(b'"median_us":40.0', b'"median_us":-40.0'))
    assert run("import", str(file)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("error: line 8: trial: expected samples, and 0 < min <= p10 <= median <= p90")
    assert "median_us=-40.0" in said.err
    assert run("jobs", "--json") == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == []


def test_imported_jobs_and_kernels_are_shown_with_their_origin(
    run: Run, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("import", str(file), "--origin", "lab 2")
    capsys.readouterr()
    assert run("jobs", "show", JOB) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "96x64x128 f16->f32 NN on b580, imported from lab 2" in shown
    assert "measured, native by lab 2" in shown
    assert "2.00 times predicted" in shown
    assert run("kernels", *SIZE, "--device", "b580") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "source: nearest" in shown, "its configuration is none that today's rules allow: it is not served as it is"
    assert "from lab 2, not from here" in shown


def test_an_export_is_an_import_elsewhere(run: Run, file: Path, tmp_path: Path, migrated_file: Path) -> None:
    run("import", str(file))
    output = tmp_path / "out.jsonl"
    assert run("export", *SIZE, "--device", "b580", "--origin", "home", "-o", str(output)) == 0
    exchange = read(output.read_bytes())
    assert (exchange.header.origin, exchange.jobs[JOB].record.origin, len(exchange.trials)) == ("home", "the lab", 4)
    (tmp_path / "other.sqlite").write_bytes(migrated_file.read_bytes())
    other = open_database(f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert take_in(exchange, other, ArtifactStore(tmp_path / "others"), find).trials == 4
    other.close()


def test_export_goes_to_standard_output_and_holds_nothing_only_where_all_was_asked_for(
    run: Run, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("export") == 0
    assert len(read(capsys.readouterr().out.encode()).jobs) == 0
    run("import", str(file))
    capsys.readouterr()
    for choice in (("--device", "b60"), ("--m", "1", "--n", "2", "--k", "3")):
        assert run("export", *choice, "-o", str(tmp_path / "nothing.jsonl")) == 2
        assert capsys.readouterr().err.startswith("error: no such results, and nothing written")
    assert not (tmp_path / "nothing.jsonl").exists()
    assert run("export", "-o", str(tmp_path / "nowhere" / "all.jsonl")) == 2
    assert capsys.readouterr().err.strip() == f"error: No such folder: {tmp_path / 'nowhere'}"
    assert run("export", "--runners-up") == 0
    found = read(io.BytesIO(capsys.readouterr().out.encode()).getvalue())
    assert [c.record.config for c in found.candidates.values()] == [lines.config(2)]


@pytest.mark.parametrize("words", [("export",), ("export", "--runners-up"), ("measure", "{results}")])
def test_results_do_not_go_to_a_terminal(
    run: Run, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(*(word.format(results=file) for word in words)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("error: expected a file or a pipe for the results, got a terminal: add -o FILE")


def test_a_file_of_results_may_be_written_from_a_terminal(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run("import", str(file))
    assert run("export", "-o", str(tmp_path / "all.jsonl")) == 0
    assert run("export", "--job", JOB, "--format", "t4", "-o", str(tmp_path / "one.json")) == 0
    assert run("export", "--job", JOB, "--format", "t4") == 2


def test_a_job_is_exported_by_its_first_characters_and_as_the_last(run: Run, file: Path, tmp_path: Path) -> None:
    run("import", str(file))
    one, same = tmp_path / "one", tmp_path / "same"
    for format in ("jsonl", "t4"):
        assert run("export", "--job", JOB, "--format", format, "-o", str(one)) == 0
        for said in (JOB[:13], "last"):
            assert run("export", "--job", said, "--format", format, "-o", str(same)) == 0
            assert len(same.read_bytes()) == len(one.read_bytes())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "--job", JOB), f"error: job {JOB} does not exist"),
        (("export", "--origin", ""), "error: --origin: expected 1 to 200 printable characters"),
        (("export", "--device", "nosuch"), "error: no device is known as 'nosuch'"),
        (("measure", "{candidates}"), "error: b580 is not in this machine: take the file to where it is"),
        (("measure", "{results}"), "error: results.jsonl: expected configurations to measure, got results"),
        (("import", "{candidates}"), "error: b580 is not in this machine: take the file to where it is"),
        (("import", "{results}", "--origin", "a\tb"), "error: --origin: expected 1 to 200 printable characters"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    run: Run, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    asked = tmp_path / "candidates.jsonl"
    asked.write_bytes(text_of(lines.candidates()))
    assert run(*(a.format(candidates=asked, results=file) for a in arguments)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1), said.err
    assert said.err.startswith(message)


@pytest.mark.opencl
def test_a_job_without_a_time_is_named_with_its_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, left = psutil.Process().children(), list[psutil.Process]()

    def cancel(access: Access, job: UUID, **_: object) -> None:
        left.extend(child for child in psutil.Process().children() if child not in before)
        access.do(cancellation_of(job))

    monkeypatch.setattr("service.cli.tuning.running.work_on_job", cancel)
    asked = tmp_path / "candidates.jsonl"
    asked.write_bytes(text_of(lines.candidates()))
    assert run("measure", str(asked), "--device", "opencl-cpu-as-b580", "-o", str(tmp_path / "found")) == 1
    *_, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"job (\S+) measured no time; `xetune jobs show \1` shows its trials", last)
    assert left == []  # of those that asked the drivers


@pytest.mark.opencl
@pytest.mark.slow
def test_what_is_measured_elsewhere_comes_back(
    run: Run, tmp_path: Path, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the CPU that stands in for the GPU: the way is the same, its times are its own."""
    asked, measured = tmp_path / "candidates.jsonl", tmp_path / "measured.jsonl"
    plain = lines.plain(GEMM)
    asked.write_bytes(text_of(lines.candidates(*plain)))
    device = ("--device", "opencl-cpu-as-b580")
    assert run("measure", str(asked), *device, "--origin", "the lab", "-o", str(measured)) == 0
    found = read(measured.read_bytes())
    assert {t.record.config for t in found.trials.values()} >= set(plain)
    assert all(t.record.outcome.measurement is not None for t in found.trials.values()), found.trials
    assert [job.record.stop for job in found.jobs.values()] == [Stop.EXHAUSTED]
    capsys.readouterr()
    assert run("import", str(measured), "--json") == 0
    assert json.loads(capsys.readouterr().out)["known"] == len(found.trials)
