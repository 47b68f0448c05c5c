"""What is found elsewhere goes to a service by a merge, and what it lists is measured here and sent back."""

import json
import re
import socket
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from db.session import open_database
from hal import DeviceKind, find
from service.api.exchange import sending
from service.api.exchange.importing import take_in
from service.artifacts import ArtifactStore
from service.cli.backend.remote import Remote
from service.cli.exchange import measure
from service.errors import TooLarge, Unavailable
from service.http.deps import Context
from tests.service.cli.ways import Run, both
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, results, text_of
from tuner.exchange.jsonl import Exchange, read_lines
from tuner.exchange.records import Record, Source

AT = ("--server", "http://testserver")
SECOND = "01970a3c-0000-7000-8000-00000000000b"
EMULATED = ("--device", "opencl-cpu-as-b580")

pytestmark = pytest.mark.usefixtures("one_database")


def data_folder(tmp_path: Path, migrated_file: Path, records: list[Record]) -> Path:
    """The data folder of another database that has these results."""
    folder, file = tmp_path / "other", tmp_path / "theirs.jsonl"
    folder.mkdir()
    (folder / "xetune.sqlite").write_bytes(migrated_file.read_bytes())
    file.write_bytes(text_of(records))
    opened = open_database(f"sqlite:///{folder / 'xetune.sqlite'}")
    with file.open("rb") as stream:
        take_in(read_lines(stream), opened, ArtifactStore(folder / "artifacts"), find)
    opened.close()
    return folder


@pytest.fixture
def other(tmp_path: Path, migrated_file: Path) -> Path:
    """Another database with a job of two times, one failure and one prediction."""
    return data_folder(tmp_path, migrated_file, results())


@pytest.fixture
def of_two_jobs(tmp_path: Path, migrated_file: Path) -> Path:
    """One more has a job besides, which took one of these times and failed once itself."""
    taken = replace(lines.measured(0, 50.0), job=SECOND, source=Source(JOB, 0, 1.25))
    job = lines.job(best=0, id=SECOND, seed=8, created_at="2026-03-05T12:00:00+00:00")
    return data_folder(tmp_path, migrated_file, [*results(), job, taken, lines.failed(1, job=SECOND)])


def test_the_results_of_another_database_go_to_a_service(run: Run, other: Path) -> None:
    status, told, said = run(*AT, "merge", str(other), "--json")
    done = json.loads(told)
    assert (status, said) == (0, "")
    assert (done["jobs"], done["trials"], done["kernels"], done["known"]) == (1, 4, 2, 0)
    assert done["stays"] == {"active_jobs": 0, "recordings": 0, "shape_sets": 0}
    assert done["origin"] == socket.gethostname()  # where it is here is nothing to a service's readers
    shown = json.loads(run("jobs", "show", JOB, "--json")[1])
    assert (shown["id"], shown["status"]) == (JOB, "succeeded")
    assert run(*AT, "merge", str(other), "--origin", "lab 3") == (
        *(0, "merged from lab 3: 0 jobs, 0 trials, 0 kernels; 4 trials known before\n", ""),
    )


def test_jobs_go_to_a_service_in_parts(run: Run, of_two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "_PART_BYTES", 1)
    parts = kept_imports(monkeypatch, most_jobs=2)
    told = run(*AT, "merge", str(of_two_jobs), "--origin", "lab 3")
    assert told == (0, "merged from lab 3: 2 jobs, 6 trials, 2 kernels; 0 trials known before\n", "")
    assert [list(part.jobs) for part in parts] == [[JOB], [SECOND, JOB]]  # with the job whose time it took
    assert json.loads(run("jobs", "show", SECOND, "--json")[1])["status"] == "succeeded"
    told = run(*AT, "merge", str(of_two_jobs), "--origin", "lab 3")
    assert told == (0, "merged from lab 3: 0 jobs, 0 trials, 0 kernels; 6 trials known before\n", "")


def test_a_part_that_is_too_large_for_a_service_goes_in_halves(
    run: Run, of_two_jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = kept_imports(monkeypatch, most_jobs=1)
    status, told, said = run(*AT, "merge", str(of_two_jobs))
    assert (status, told) == (2, "")
    assert said.startswith("1 of 2 jobs got to http://testserver; the same command sends the rest\n"), said
    assert said.endswith(f"error: job {SECOND}: too large\n"), said
    assert [list(part.jobs) for part in parts] == [[JOB]]


def kept_imports(monkeypatch: pytest.MonkeyPatch, most_jobs: int) -> list[Exchange]:
    """Files that the service takes in from now on, of so many jobs at most."""
    take, kept = Remote.import_results, list[Exchange]()

    def taken(remote: Remote, content: bytes, said: dict[str, object]) -> object:
        exchange = read_lines(BytesIO(content))
        if len(exchange.jobs) > most_jobs:
            raise TooLarge("too large")
        kept.append(exchange)
        return take(remote, content, said)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Remote, "import_results", taken)
    return kept


def test_a_database_without_results_is_merged_alike(run: Run, tmp_path: Path, migrated_file: Path) -> None:
    nothing = data_folder(tmp_path, migrated_file, [lines.header()])
    told = run(*AT, "merge", str(nothing), "--origin", "lab 3")
    assert told == (0, "merged from lab 3: 0 jobs, 0 trials, 0 kernels; 0 trials known before\n", "")


def test_what_a_merge_leaves_behind_is_told(
    run: Run, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache.json"
    monkeypatch.setenv("XETUNE_DATABASE_URL", f"sqlite:///{other / 'xetune.sqlite'}")  # of the commands alone
    assert run("export", "--job", JOB, "--format", "t4", "-o", str(cache))[0] == 0
    assert run("import", str(cache))[0] == 0
    told = run(*AT, "merge", str(other))[1]
    assert "stays there: 1 recording; `xetune export --recording ID --format t4 -o FILE` writes one" in told


def test_a_merge_that_cannot_be_is_refused_alike(run: Run, other: Path, tmp_path: Path) -> None:
    for arguments in ((str(tmp_path / "nowhere"),), (str(other), "--origin", "a\tb")):
        local, served = both(run, "merge", *arguments)
        assert (local[0], local) == (2, served)
    (other / "artifacts").rename(tmp_path / "moved")
    local, served = both(run, "merge", str(other))
    assert (local[0], local) == (2, served)
    assert "name the folder of its artifacts with --artifacts" in served[2]
    assert run(*AT, "merge", str(other), "--artifacts", str(tmp_path / "moved"))[0] == 0


def test_a_service_measures_runners_up_on_the_device_that_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runners-up.jsonl"
    file.write_bytes(text_of(lines.candidates(*lines.plain(GEMM))))
    status, told, _ = run(*AT, "import", str(file), *EMULATED, "--json")
    (queued,) = json.loads(told)["queued"]
    shown = json.loads(run("jobs", "show", queued, "--json")[1])
    assert (status, shown["device"], shown["kind"]) == (0, "opencl-cpu-as-b580", "measure")
    status, _, said = run("import", str(file), *EMULATED)
    assert (status, "leave them out" in said) == (2, True)


def test_what_is_to_be_measured_is_a_file_or_of_a_service(run: Run, tmp_path: Path) -> None:
    for arguments in (("measure",), (*AT, "measure"), ("measure", *EMULATED)):
        status, _, said = run(*arguments)
        assert (status, said.startswith("error: expected FILE, which `xetune export --runners-up` writes")) == (2, True)
    status, _, said = run(*AT, "measure", *EMULATED)
    message = "error: http://testserver has no configuration of b580 that is predicted and was not measured\n"
    assert (status, said) == (2, message)
    missing = run(*AT, "measure", str(tmp_path / "missing"))
    assert missing[0] == 2


@pytest.mark.opencl
@pytest.mark.slow
def test_what_a_service_lists_is_measured_here_and_comes_back(
    run: Run, tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch, sqlite_url: str, context: Context
) -> None:
    """On the CPU that stands in for the GPU: the way is the same, its times are its own."""
    gpus = tuple(listed for listed in context.devices.all() if listed.spec.kind is DeviceKind.GPU)
    object.__setattr__(context.devices, "_list_all", lambda: gpus)  # else its CPU is another of that name
    object.__setattr__(context.devices, "_listed", None)
    came = run(*AT, "merge", str(other))
    assert came[0] == 0, came
    monkeypatch.setenv("XETUNE_DATABASE_URL", f"sqlite:///{tmp_path / 'here.sqlite'}")  # of the commands alone
    with monkeypatch.context() as away:
        away.setattr(measure.served, "take_in_lines", _unavailable)
        status, _, said = run(*AT, "measure", *EMULATED)
    assert status == 2, said
    kept = re.findall(r"`xetune export --job (\S+) -o FILE`", said)
    assert [line["id"] for line in json.loads(run("jobs", "--json")[1])["jobs"]] == kept
    file = tmp_path / "measured.jsonl"
    status, told, said = run(*AT, "measure", *EMULATED, "--origin", "the lab", "-o", str(file))
    assert (status, "measuring 1 configuration of 96x64x128" in said) == (0, True), said
    assert f"records written to {file}" in told
    assert " imported from the lab; 0 trials were here before" in told
    with file.open("rb") as stream:
        (measured,) = read_lines(stream).jobs
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    shown = json.loads(run("jobs", "show", measured, "--json")[1])
    assert (shown["id"], shown["kind"], shown["origin"]) == (measured, "import", "the lab")
    assert (shown["status"], shown["best"]["status"]) == ("succeeded", "measured")


def _unavailable(*_: object) -> None:
    raise Unavailable("the service is away")
