"""Actions of commands with this machine's database, compared with the application: answers, refusals and events."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
from pydantic import BaseModel
from sqlalchemy import select

from codegen import GemmProblem
from db.schema.kernel import Kernel
from service.api.jobs.schemas import JobBody
from service.api.kernels.schemas import LookupBody
from service.api.kernels.tune import Tune
from service.api.schedules.schemas import ScheduleBody, StaleBody
from service.api.shapes.schemas import ShapeSetBody
from service.cli.access.opening import Access, ClientAccess, open_access_of
from service.cli.access.resource import Action, Asked, Done, M, Removal, Resource
from service.cli.compiler.inspection.xrays import report_on, report_on_kernel
from service.cli.devices.resources import release_of
from service.cli.exchange.exporting import EXPORT
from service.cli.exchange.importing import import_of
from service.cli.kernels.actions import restoration_of, withdrawal_of
from service.cli.kernels.binaries import binaries_of, build_of, rebuild_of
from service.cli.kernels.kernel_lists import KERNELS, lookup_of
from service.cli.operating import schedule_tables
from service.cli.operating.audit_tables import EVENTS
from service.cli.operating.schedule_tables import creation_of, run_of
from service.cli.records import record_tables
from service.cli.records.stored import storage_of
from service.cli.tuning.actions import (
    cancellation_of,
    cancellation_of_set,
    creation_of_job,
    creation_of_set,
    removal_of_set,
    retry_of,
)
from service.cli.tuning.job_lists import job_of
from service.errors import Malformed, NotFound, ServiceError
from service.http.context import Context
from service.schemas import to_body
from tests.service.api.records.test_records import RECORD
from tests.service.cli.both_transports import Run, both
from tests.tuner.exchange.lines import results, text_of
from tuner.exchange.jsonl import error_of
from xetune_client import Client, Refused
from xetune_client.models import RecordsBody
from xetune_client.wire import Answer, Request

pytestmark = pytest.mark.usefixtures("one_database")
PROBLEM = to_body(GemmProblem(64, 96, 32))
BODY = JobBody(problem=PROBLEM, device="b580")
TEXT = "m=64,128 n=96 k=32"
NO_ID = UUID("01970a3c-0000-7000-8000-000000000000")
NO_RESULTS = Path(__file__)


@pytest.fixture
def no_ocloc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Name an offline compiler that is not there, wherever this machine has one."""
    monkeypatch.setenv("XETUNE_OCLOC", str(tmp_path / "ocloc"))


@pytest.fixture
def own(no_ocloc: None, context: Context) -> Iterator[Access]:
    """Access to the database of this machine."""
    del context  # creates the database
    with open_access_of(None) as access:
        yield access


def same_of_both(own: Access, served: Access, action: Action[M]) -> tuple[Done[M], Done[M]]:
    """Do an action here, then by the application; what they answer is the same."""
    here, there = own.do(action), served.do(action)
    documents = [done.answer.model_dump(mode="json", exclude={"roof_us"}) for done in (here, there)]
    assert documents[0] == documents[1]
    return here, there


def events(own: Access) -> list[tuple[str, str, str]]:
    """Return the events of the audit log, oldest first."""
    found = own.read(EVENTS, {"limit": 50}).events
    return [(event.actor, event.action, event.outcome.value) for event in reversed(found)]


def test_a_job_is_queued_once_cancelled_and_resubmitted(own: Access, served: Access) -> None:
    here, there = same_of_both(own, served, creation_of_job(BODY))
    assert (here.is_new, there.is_new) == (True, False)
    job = here.answer.id
    same_of_both(own, served, cancellation_of(job))
    again = own.do(retry_of(job))
    assert again.is_new
    assert again.answer.retry_of == job
    assert not served.do(retry_of(job)).is_new
    assert events(own) == [
        ("command line", action, outcome)
        for action in ("job.create", "job.cancel", "job.retry")
        for outcome in ("done", "done" if action == "job.cancel" else "unchanged")
    ]


def test_a_shape_set_is_queued_once_and_cancelled(own: Access, served: Access) -> None:
    here, there = same_of_both(own, served, creation_of_set(ShapeSetBody(text=TEXT, device="b580")))
    assert (here.is_new, there.is_new) == (True, False)
    assert [shape.problem.m for shape in here.answer.shapes] == [64, 128]
    cancelled, _ = same_of_both(own, served, cancellation_of_set(here.answer.id))
    assert cancelled.answer.status == "cancelled"
    assert [action for _, action, _ in events(own)] == ["shapes.create"] * 2 + ["shapes.cancel"] * 2


@pytest.mark.parametrize("tune", Tune)
def test_a_lookup_answers_the_same_and_queues_the_job_that_it_asks_for(tune: Tune, own: Access, served: Access) -> None:
    here, there = same_of_both(own, served, lookup_of(LookupBody(problem=PROBLEM, device="b580", tune=tune)))
    assert here.answer.source == there.answer.source == "heuristic"
    assert (here.answer.job is None) == (tune is Tune.NEVER)


@pytest.mark.parametrize(
    "action",
    [
        creation_of_job(JobBody(problem=PROBLEM, device="nothing")),
        creation_of_job(JobBody(problem=PROBLEM, device="b580", search="annealing")),
        creation_of_job(JobBody(problem=to_body(GemmProblem(2**24, 2**24, 32)), device="b580")),
        creation_of_set(ShapeSetBody(text="m=64 n=", device="b580")),
        lookup_of(LookupBody(problem=PROBLEM, device="nothing")),
        cancellation_of(NO_ID),
        cancellation_of_set(NO_ID),
        retry_of(NO_ID),
        run_of(NO_ID),
        withdrawal_of(NO_ID, "wrong"),
        build_of(NO_ID),
        rebuild_of(5),
        import_of(NO_RESULTS, {}),
        import_of(NO_RESULTS, {"device": ""}),
        import_of(NO_RESULTS, {"m": 64}),
        report_on(NO_RESULTS, {"name": ""}),
        report_on(NO_RESULTS, {"name": "a", "m": 64}),
        report_on(NO_RESULTS, {"name": "a"}),
        storage_of(RecordsBody.model_validate({"records": [RECORD | {"tunr": "a", "time_us": -1.0}]})),
        storage_of(RecordsBody.model_validate({"records": []})),
    ],
    ids=lambda action: action.path.removeprefix("/v1/"),
)
def test_a_refusal_is_that_of_the_application(action: Action[M], own: Access, served: Access) -> None:
    with pytest.raises(ServiceError) as here:
        own.do(action)
    with pytest.raises(Refused) as there:
        served.do(action)
    assert (here.value.status, here.value.detail) == (there.value.status, there.value.detail)
    assert here.value.rule in (there.value.rule, None)
    fields = [[error.field for error in each.errors or ()] for each in (here.value, there.value)]
    assert fields[0] == fields[1]
    assert not events(own)


@pytest.mark.parametrize(
    "removal",
    [
        schedule_tables.removal_of(NO_ID),
        record_tables.removal_of(NO_ID),
        removal_of_set(NO_ID),
        restoration_of(NO_ID),
        release_of("b580", None),
        release_of("b580", "lab-7"),
    ],
    ids=["schedule", "record", "set", "withdrawal", "quarantine", "host"],
)
def test_a_refused_removal_is_refused_as_by_the_application(removal: Removal, own: Access, served: Access) -> None:
    with pytest.raises(NotFound) as here:
        own.remove(removal)
    with pytest.raises(Refused) as there:
        served.remove(removal)
    assert (here.value.status, here.value.detail) == (there.value.status, there.value.detail)
    assert not events(own)


@pytest.mark.parametrize(
    ("resource", "asked"),
    [
        (binaries_of(NO_ID), {}),
        (binaries_of(NO_ID), {"driver": ""}),
        (report_on_kernel(NO_ID), {}),
        (record_tables.LOOKUP, {"tuner": "Triton", "kernel": "a", "problem": "{}", "device": "b60"}),
        (record_tables.LOOKUP, {"tuner": "triton", "kernel": "a", "problem": '{"m": 1, "m": 2}', "device": "b60"}),
        (record_tables.LOOKUP, {"tuner": "triton", "kernel": "a", "problem": "[", "device": "b60"}),
        (record_tables.LOOKUP, {"tuner": "triton", "kernel": "a", "problem": "{}", "device": "b60", "version": ["1"]}),
        (record_tables.LOOKUP, {"tuner": "triton", "kernel": "a", "problem": "{}", "device": "b60"}),
    ],
)
def test_what_is_read_is_refused_as_by_the_application(
    resource: Resource[BaseModel], asked: Asked, own: Access, served: Access
) -> None:
    with pytest.raises(ServiceError) as here:
        own.read(resource, asked)
    with pytest.raises(Refused) as there:
        served.read(resource, asked)
    assert (here.value.status, here.value.detail) == (there.value.status, there.value.detail)


def test_a_kernel_is_withdrawn_and_its_binaries_listed_alike(job: str, own: Access, served: Access) -> None:
    del job
    kernel = own.read(KERNELS, {"limit": 1, "winners": True}).kernels[0].id
    here, there = same_of_both(own, served, withdrawal_of(kernel, "wrong results"))
    assert here.answer.withdrawn == there.answer.withdrawn == "wrong results"
    assert events(own)[-2:] == [("command line", "kernel.withdraw", outcome) for outcome in ("done", "unchanged")]
    assert own.read(binaries_of(kernel)) == served.read(binaries_of(kernel))
    with pytest.raises(Malformed, match="expected a text of 1 or more characters"):
        withdrawal_of(kernel, "")


def test_records_are_stored_once_and_found_alike(own: Access, served: Access) -> None:
    action = storage_of(RecordsBody.model_validate({"records": [RECORD]}))
    here, there = (access.do(action).answer.records for access in (own, served))
    assert ([each.new for each in here], [each.new for each in there]) == ([True], [False])
    assert [outcome for _, _, outcome in events(own)] == ["done", "unchanged"]
    asked = {"tuner": "triton", "kernel": "matmul", "problem": json.dumps(RECORD["problem"]), "device": "b60"}
    found, of_service = (access.read(record_tables.LOOKUP, asked) for access in (own, served))
    assert found == of_service
    assert found.record.id == here[0].id


def test_a_file_is_imported_alike(own: Access, served: Access, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(text_of(results()))
    here, there = (access.do(import_of(file, {"origin": "the lab"})).answer for access in (own, served))
    assert (here.origin, here.trials, there.trials, there.known) == ("the lab", here.trials, 0, here.trials)
    assert here.trials > 0
    assert events(own) == [("command line", "import", "done")] * 2


def test_a_removal_is_logged_as_by_the_application(own: Access, served: Access) -> None:
    for access, name in ((own, "here"), (served, "there")):
        made = access.do(creation_of(ScheduleBody(name=name, cron="30 2 * * *", stale=StaleBody(most_jobs=1)))).answer
        access.do(run_of(made.id))
        access.remove(schedule_tables.removal_of(made.id))
    assert (
        events(own)
        == [("command line", action, "done") for action in ("schedule.create", "schedule.run", "schedule.delete")] * 2
    )


def test_an_export_is_that_of_the_application(job: str, own: Access, served: Access) -> None:
    for asked in (
        {"job": job},
        {"device": "b580", "origin": "the lab"},
        {"runners_up": True},
        {"job": job, "format": "t4"},
    ):
        here, there = (access.fetch(EXPORT, asked) for access in (own, served))
        # The header has the time of the export.
        assert here.content.splitlines()[1:-1] == there.content.splitlines()[1:-1]
        assert len(here.content.splitlines()) > 2
        assert here.headers.items() <= dict(there.headers).items()


def test_an_export_whose_later_file_is_missing_is_an_error(job: str, own: Access, run: Run, context: Context) -> None:
    with context.database.read() as session:
        missing = session.scalars(select(Kernel.content_hash).order_by(Kernel.id.desc())).first()
    assert missing is not None
    context.artifacts.path(missing).unlink()
    assert missing[:12] in (error_of(own.fetch(EXPORT, {"job": job}).content) or "")
    status, printed, error = run("export", "--job", job)
    assert (status, printed) == (2, "")
    assert error.startswith("error: nothing is written: ")


class _Answers:
    """A client that answers every request with the same job, and keeps the requests."""

    def __init__(self, body: bytes) -> None:
        self.requests, self._body = list[Request](), body

    def send(self, request: Request) -> Answer:
        self.requests.append(request)
        return Answer(202, {"content-type": "application/json"}, self._body)


def test_only_what_creates_is_sent_with_a_key_that_makes_it_happen_once(own: Access) -> None:
    job = own.do(creation_of_job(BODY)).answer
    client = _Answers(job.model_dump_json().encode())
    access = ClientAccess(cast(Client, client))
    for action in (creation_of_job(BODY), creation_of_job(BODY), retry_of(job.id), cancellation_of(job.id)):
        assert access.do(action) == Done(job, is_new=True)
    keys = [request.headers.get("idempotency-key") for request in client.requests]
    assert len(set(keys)) == 4  # one of them None
    assert keys[3] is None


def test_a_tune_of_an_active_job_resumes_it(own: Access, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.cli.tuning.running.work_on_job", lambda *_, **__: None)
    job = own.do(creation_of_job(BODY)).answer.id
    assert f"\nresuming job {job}\n" in run("tune", "64", "96", "32", "--device", "b580")[1]
    assert "\njob " in run("tune", "64", "96", "32", "--device", "b580", "--seed", "1")[1]


def test_a_lookup_without_an_answer_names_the_devices_that_have_one(job: str, run: Run, own: Access) -> None:
    problem = own.read(job_of(UUID(job))).problem
    words = ("kernels", "find", str(problem.m), str(problem.n), str(problem.k), "--device", "nvl-s")
    here, there = both(run, *words)
    assert here == there
    assert here[0] == 2
    assert "; held for other devices: b580: " in here[2]


@pytest.mark.parametrize("words", [("jobs",), ("kernels",), ("kernels", "list", "--all")])
def test_a_list_for_a_name_that_is_no_id_does_not_say_that_there_is_nothing(
    words: tuple[str, ...], job: str, run: Run
) -> None:
    del job
    here, there = both(run, *words, "--device", "battlemage")
    assert here == there
    assert f"No such {words[0]} for battlemage; `xetune devices` lists the ids" in here[1]


def test_a_bound_is_checked_without_shapes_too(run: Run) -> None:
    status, _, error = run("tune", "64", "96", "32", "--within", "abc")
    assert (status, error) == (2, "error: --within: expected 0% to 100%, as in 80%; got 'abc'\n")
