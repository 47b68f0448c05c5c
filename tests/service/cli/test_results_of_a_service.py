"""Configurations that a service or a file lists are measured, by the service or here."""

import json
import re
from pathlib import Path

import httpx
import pytest

from hal import DeviceKind
from service.http.context import Context
from tests.service.cli.both_transports import Run, both
from tests.service.passed import Passed
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, text_of
from tuner.exchange.jsonl import read_lines
from xetune_client import Client, NotReached

AT = ("--server", "http://testserver")
EMULATED = ("--device", "opencl-cpu-as-b580")

pytestmark = pytest.mark.usefixtures("one_database")


def test_a_service_measures_runners_up_on_the_device_that_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runners-up.jsonl"
    file.write_bytes(text_of(lines.candidates(*lines.plain(GEMM))))
    status, told, _ = run(*AT, "import", str(file), *EMULATED, "--json")
    (queued,) = json.loads(told)["queued"]
    shown = json.loads(run("jobs", "show", queued, "--json")[1])
    assert (status, shown["device"], shown["kind"]) == (0, "opencl-cpu-as-b580", "measure")


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
    run: Run, tmp_path: Path, job: str, monkeypatch: pytest.MonkeyPatch, sqlite_url: str, context: Context
) -> None:
    """On the CPU that stands in for the GPU: the way is the same, its times are its own."""
    gpus = tuple(listed for listed in context.devices.all() if listed.spec.kind is DeviceKind.GPU)
    object.__setattr__(context.devices, "_list_all", lambda: gpus)  # else its CPU is another of that name
    object.__setattr__(context.devices, "_listed", None)
    monkeypatch.setenv("XETUNE_DATABASE_URL", f"sqlite:///{tmp_path / 'here.sqlite'}")  # of the commands alone
    with monkeypatch.context() as away:
        away.setattr(Client, "import_results", _away)
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


def _away(client: Client, content: bytes, **said: object) -> object:
    raise NotReached("the service is away")


def test_a_job_that_is_over_is_not_told_as_cancelled(one_database: None, run: Run, job: str) -> None:
    here, there = both(run, "jobs", "cancel", job)
    assert here == there == (0, f"job {job}: succeeded, was over before\n", "")


def test_an_export_of_a_service_without_a_file_of_a_kernel_is_refused_at_once(
    run: Run, job: str, tmp_path: Path, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in context.artifacts.root.rglob("*"):
        if path.is_file():
            path.unlink()
    asked, handle = list[str](), Passed.handle_request

    def counted(transport: Passed, request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return handle(transport, request)

    monkeypatch.setattr(Passed, "handle_request", counted)
    output = tmp_path / "results.of.service"
    status, told, said = run(*AT, "export", "-o", str(output))
    assert (status, told, said.count("\n")) == (2, "", 1)
    assert re.match(r"error: no artifact [0-9a-f]{64} in .*: tune the problem again to make it", said)
    assert asked == ["/v1/exports"]
    assert not output.exists()
