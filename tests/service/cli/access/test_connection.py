"""A command says the same of a service as of the database itself; what a service cannot do is refused by name."""

import json
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from fastapi import FastAPI

from db.queries import jobs
from service.cli.access.opening import open_access_of
from service.cli.tuning import running
from service.cli.tuning.results import print_job
from service.http.context import Context
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run, both
from tests.tuner.exchange.lines import results, text_of
from tuner.exchange.jsonl import seal

SIZE = ("512", "384", "1024", "--dtype", "f16")
OWN = ("--m", "96", "--n", "64", "--k", "128")
UNKNOWN = "01970a3c-0000-7000-8000-000000000000"

pytestmark = pytest.mark.usefixtures("one_database")


@pytest.fixture
def job_id(context: Context) -> str:
    """A job that is over, with trials, a kernel and a winner."""
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "succeeded")
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((300.0, 150.0, 180.0)):
            rows.add_measured(session, job, number, median_us, kernel.id)
        jobs.update_best(session, job.id)
        return str(job.id)


def without_time(lines: str) -> list[dict[str, object]]:
    """JSON lines but for when they were written, and the hash of that."""
    return [
        {name: value for name, value in json.loads(line).items() if name not in ("written_at", "sha256")}
        for line in lines.splitlines()
    ]


@pytest.mark.slow
def test_jobs_kernels_keys_and_the_log_are_told_alike(run: Run, job_id: str, context: Context) -> None:
    for arguments in (
        ("jobs",),
        ("jobs", "--json"),
        ("jobs", "--status", "succeeded", "--device", "opencl-cpu-as-b580"),
        ("kernels", *SIZE, "--device", "b580", "--json"),
        ("kernels", *SIZE, "--device", "b580"),
        ("kernels",),
        ("kernels", "--json", "--device", "opencl-cpu-as-b580"),
        ("keys",),
        ("shapes",),
        ("shapes", "list", "--json"),
        ("audit",),
        ("audit", "--json", "--action", "job.create"),
        ("devices", "show", "b580"),
        ("devices", "show", "bmg", "--json"),
        ("explain", *SIZE, "--device", "b580"),
        ("explain", *SIZE, "--device", "b580", "--json"),
        ("schedules",),
    ):
        local, served = both(run, *arguments)
        assert local == served, arguments
        assert local[0] == 0, local


def test_the_files_of_a_winner_are_copied_to_a_folder(context: Context, job_id: str, tmp_path: Path) -> None:
    kept = {**rows.STAGES, "kernel.spv": b"\x03\x02\x23\x07" * 300, "kernel.json": b"{}"}
    for data in kept.values():
        context.artifacts.put(data)
    with open_access_of(None) as access:
        print_job(access, UUID(job_id), as_json=False, output=tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == kept


def test_a_job_is_shown_alike_but_for_the_addresses_of_its_files(run: Run, job_id: str) -> None:
    local, served = both(run, "jobs", "show", job_id, "--json")
    here, there = json.loads(local[1]), json.loads(served[1])
    assert here.pop("artifacts").keys() == there.pop("artifacts").keys()
    assert here == there
    local, served = both(run, "jobs", "show", job_id)
    assert local == served


@pytest.mark.parametrize(
    "arguments",
    [
        ("jobs", "show", "01970a3c-0000-7000-8000-000000000000"),
        ("jobs", "cancel", "01970a3c-0000-7000-8000-000000000000"),
        ("tune", *SIZE, "--device", "b580", "--trials", "0"),
        ("tune", *SIZE, "--device", "wildcat-lake"),
        ("tune", *SIZE, "--device", "nosuch"),
        ("shapes", "show", "01970a3c-0000-7000-8000-000000000000"),
        ("keys", "revoke", "nobody"),
        ("jobs", "retry", "01970a3c-0000-7000-8000-000000000000"),
        ("devices", "show", "nosuch"),
        ("devices", "release", "b580"),
        ("devices", "release", "b580", "--host", "lab-7"),
        ("explain", *SIZE, "--device", "nosuch"),
        ("schedules", "show", "nosuch"),
        ("schedules", "create", "s", "--cron", "1 2 3", "--stale", "1"),
        ("tune", "--shapes", "m=1 n=64 k=64", "--device", "wildcat-lake"),
    ],
)
def test_refusals_are_told_alike(run: Run, arguments: tuple[str, ...]) -> None:
    local, served = both(run, *arguments)
    assert local == served
    assert local[0] == 2


def test_a_key_is_made_and_revoked_and_a_job_cancelled(run: Run, context: Context) -> None:
    at = partial(run, "--server", "http://testserver")
    status, _, told = at("kernels", *SIZE, "--device", "b580", "--tune", "on_miss", "--json")
    assert (status, told) == (0, "")
    (queued,) = json.loads(run("jobs", "--json")[1])["jobs"]
    assert at("jobs", "cancel", queued["id"])[1] == f"job {queued['id']}: cancelled\n"
    status, shown, _ = at("keys", "create", "ana", "--scope", "read")
    assert status == 0
    assert "key ana, scope read" in shown
    status, _, told = at("keys")
    assert (status, "XETUNE_API_KEY" in told) == (2, True)  # the service has a key now


@pytest.mark.slow
def test_schedules_are_made_and_changed_alike(run: Run) -> None:
    at = partial(run, "--server", "http://testserver")
    for way, name in ((run, "here"), (at, "there")):
        made = way("schedules", "create", name, "--cron", "30 2 * * *", "--stale", "3")
        assert (made[0], made[1].startswith(f"schedule {name}: first run ")) == (0, True), made
        assert way("schedules", "pause", name)[1] == f"schedule {name} is paused\n"
        assert way("schedules", "next", name)[1].startswith("never: it is paused")
        assert way("schedules", "run", name)[0] == 0
    for arguments in (("schedules",), ("schedules", "show", "here", "--json"), ("schedules", "history", "there")):
        local, served = both(run, *arguments)
        assert local == served, arguments
    for way, name in ((at, "here"), (run, "there")):  # each undoes what the other did
        assert way("schedules", "resume", name)[0] == 0
        assert way("schedules", "delete", name)[1] == f"schedule {name} is deleted\n"


def test_a_set_of_shapes_is_queued_at_a_service(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "work_on_set", lambda *_, **__: None)  # as if its workers had done it
    shapes = ("tune", "--shapes", "m=1,16 n=64 k=128", "--dtype", "bf16", "--device", "b580", "--trials", "4")
    status, told, _ = run("--server", "http://testserver", *shapes)
    assert (status, "tuning 2 shapes of m=1,16 n=64 k=128 on b580 of http://testserver" in told) == (1, True), told
    (line,) = json.loads(run("shapes", "list", "--json")[1])["shape_sets"]
    assert (line["shapes"], line["status"]) == (2, "active")
    preset = ("tune", "--shapes", "llama-3.2-1b@tokens=1@layers=o", "--device", "b580", "--layout", "nt")
    run("--server", "http://testserver", *preset)
    (newest, _) = json.loads(run("shapes", "list", "--json")[1])["shape_sets"]
    assert newest["source"] == "llama-3.2-1b@tokens=1@layers=o"


def test_a_job_that_was_cancelled_is_done_again(run: Run, job_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    local, served = both(run, "jobs", "retry", job_id)
    assert local == served
    assert "only failed or cancelled jobs can be retried" in local[2]
    run("kernels", *SIZE, "--device", "b580", "--tune", "on_miss")
    queued = json.loads(run("jobs", "--json", "--status", "queued")[1])["jobs"][0]["id"]
    run("jobs", "cancel", queued)
    monkeypatch.setattr(running, "work_on_job", lambda *_, **__: None)  # as if a worker had done it
    told = run("--server", "http://testserver", "jobs", "retry", queued)[1]
    assert told.startswith(f"job {queued} is resubmitted as job ")


def test_results_go_out_and_come_in(run: Run, tmp_path: Path) -> None:
    file, header = tmp_path / "results.jsonl", tmp_path / "header.jsonl"
    written = text_of(results())
    file.write_text(written if isinstance(written, str) else written.decode())
    assert run("import", str(file))[0] == 0
    local, served = both(run, "export", "--device", "b580")
    records = local[1].splitlines()[1:-1]  # the header says when it was written, and the end is its hash
    assert (local[0], records) == (0, served[1].splitlines()[1:-1])
    at = partial(run, "--server", "http://testserver")
    said = at("export", "--device", "b580", "-o", str(file))[1]
    assert said == f"{len(records)} records written to {file}\n"
    assert file.read_text().splitlines()[1:-1] == records
    header.write_text("".join(seal([local[1].splitlines()[0] + "\n"])))
    local, served = both(run, "import", str(header))
    assert local == served
    assert "0 trials of 0 jobs" in local[1]
    assert at("import", str(file))[1] == run("import", str(file))[1]
    for arguments in (("import", str(header), "--origin", "x"), ("import", str(file), "--device", "b580")):
        local, served = both(run, *arguments)
        assert local == served, arguments
    lab = ("export", *OWN, "--origin", "the lab")
    for which in (lab, (*lab, "--runners-up", "--limit", "3"), ("export", "--m", "7")):
        local, served = both(run, *which)
        assert (local[0], without_time(local[1]), local[2]) == (served[0], without_time(served[1]), served[2]), which


@pytest.mark.slow
def test_other_formats_go_out_and_come_in_alike(run: Run, tmp_path: Path, job: str) -> None:
    at = partial(run, "--server", "http://testserver")
    for format, taken in (("kernel-tuner", "imported from kernel-tuner as"), ("t4", "here before, as")):
        here, there = tmp_path / f"here-{format}.json", tmp_path / f"there-{format}.json"
        which = ("export", "--job", job, "--format", format, "--origin", "the lab")
        local, served = run(*which, "-o", str(here)), at(*which, "-o", str(there))
        assert served == (local[0], local[1].replace(str(here), str(there)), local[2])
        assert (local[0], local[1].startswith("3 configurations written to"), "1 trial left out" in local[2]) == (
            *(0, True, True),
        )
        assert here.read_text() == there.read_text()
        made = at("import", str(there), "--origin", format)
        assert f" on b580, 2 with a time: {taken} recording" in made[1], made
        local, served = both(run, "import", str(there), "--json")
        assert local == served
        assert json.loads(served[1])["recording"] in made[1]
    local, served = both(run, "export", "--recording", json.loads(served[1])["recording"], "--format", "t4")
    assert (local[0], local) == (0, served)
    for refused in (
        ("export", "--format", "t4"),
        ("export", "--format", "t4", "--job", job, "--device", "b580"),
        ("export", "--format", "kernel-tuner", "--job", UNKNOWN),
    ):
        local, served = both(run, *refused)
        assert (local[0], local) == (2, served), refused


@pytest.mark.slow
def test_what_a_cache_does_not_say_is_asked_for_alike(run: Run, tmp_path: Path, job: str) -> None:
    file = tmp_path / "bare.json"
    assert run("export", "--job", job, "--format", "kernel-tuner", "-o", str(file))[0] == 0
    document = json.loads(file.read_text())
    del document["xetune"]
    file.write_text(json.dumps(document))
    for arguments in (
        ("import", str(file)),
        ("import", str(file), *OWN),
        ("import", str(file), *OWN, "--device", "nosuch"),
        ("import", str(file), *OWN, "--device", "b580", "--origin", "a\tlab"),
    ):
        local, served = both(run, *arguments)
        assert (local[0], local) == (2, served), arguments
    told = ("import", str(file), *OWN, "--device", "b580", "--origin", "a lab")
    said = run("--server", "http://testserver", *told)
    assert " on b580, 2 with a time: imported from a lab as recording" in said[1], said
    local, served = both(run, *told)
    assert (local[0], local) == (0, served)


def test_what_a_t1_file_or_runners_up_list_is_measured_by_the_service(run: Run, tmp_path: Path, job: str) -> None:
    at = partial(run, "--server", "http://testserver")
    file, lines = tmp_path / "t1.json", tmp_path / "runners-up.jsonl"
    assert at("export", "--job", job, "--format", "t1", "-o", str(file))[0] == 0
    status, told, _ = at("import", str(file), "--device", "opencl-cpu-as-b580", "--json")
    (queued,) = json.loads(told)["queued"]
    assert (status, json.loads(at("jobs", "show", queued, "--json")[1])["kind"]) == (0, "measure")
    assert f"`xetune jobs show {queued}`" in at("import", str(file), "--device", "opencl-cpu-as-b580")[1]
    assert at("export", "--runners-up", "-o", str(lines)) == (0, f"3 records written to {lines}\n", "")
    assert at("import", str(file), *OWN)[2].startswith("error: t1.json says the problem itself")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("db", "upgrade"), "`xetune db` works on this machine only"),
        (("compile", "--m", "8", "--n", "16", "--k", "32", "--target", "b580", "-o", "x"), "--target: expected none"),
    ],
)
def test_what_a_service_cannot_do_is_refused_by_name(run: Run, arguments: tuple[str, ...], told: str) -> None:
    status, _, said = run("--server", "http://testserver", *arguments)
    assert (status, told in said) == (2, True), said


def test_an_address_that_cannot_be_is_told(run: Run, app: FastAPI) -> None:
    status, _, said = run("--server", "ftp://x", "jobs")
    assert (status, said.startswith("error: expected the URL of a service")) == (2, True)
    for text in ("http://me:secret@x", "me:secret@x:80", "ftp://me:secret@x"):
        status, _, said = run("--server", text, "jobs")
        assert (status, "expected the URL" in said, "secret" in said) == (2, True, False), said
