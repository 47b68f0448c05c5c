"""A list that is read with the database is the one that the application answers, as are its refusals."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest
from pydantic import BaseModel
from sqlalchemy.orm import Session

from db.queries import jobs, shape_sets
from db.schema.job import Job
from db.schema.recording import Recording
from service.api.keys.caller import COMMAND_LINE
from service.api.keys.schemas import KeyBody
from service.api.keys.scope import Scope
from service.api.keys.service import create
from service.cli import ids
from service.cli.access.opening import Access, open_access_of
from service.cli.access.resource import Asked, Resource
from service.cli.devices.resources import DEVICES, accuracy_of, device_of
from service.cli.exchange import recording_tables
from service.cli.exchange.recording_tables import RECORDINGS
from service.cli.kernels.kernel_lists import KERNELS, kernel_of
from service.cli.operating.audit_tables import EVENTS
from service.cli.operating.key_tables import KEYS
from service.cli.operating.schedule_tables import SCHEDULES
from service.cli.tuning import shape_tables
from service.cli.tuning.job_lists import JOBS, ROWS, each_trial, job_of
from service.cli.tuning.shape_tables import SHAPE_SETS, set_of
from service.errors import Malformed, NotFound
from service.http.context import Context
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run
from xetune_client import BadRequest
from xetune_client import NotFound as Missing

pytestmark = pytest.mark.usefixtures("one_database")


@pytest.fixture
def stored(context: Context) -> "Stored":
    """Two of everything that lists have; the first job has trials, and a kernel that won it."""
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        job = rows.add_job(session, problem, device, "succeeded")
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((300.0, 150.0, 180.0)):
            rows.add_measured(session, job, number, median_us, kernel.id)
        jobs.update_best(session, job.id)
        queued = rows.add_job(session, problem, device, "queued")
        rows.add_kernel(session, queued, problem, number=1)
        sets = [_add_set(session, each, number) for number, each in enumerate((job, queued))]
        for name in ("nightly", "weekly"):
            create(session, KeyBody(name=name, scope=Scope.READ), context.now(), COMMAND_LINE)
            rows.add_schedule(session, name)
            session.add(_recording(problem.id, device.id, name))
        return Stored(job.id, kernel.id, sets[0])


@dataclass(frozen=True, slots=True)
class Stored:
    """Ids of a job, its kernel and a set of shapes."""

    job: UUID
    kernel: UUID
    shape_set: UUID


def _add_set(session: Session, job: Job, number: int) -> UUID:
    made = shape_sets.create(
        session,
        source="a file",
        device_id=job.device_id,
        budget_trials=5,
        budget_seconds=9.0,
        within=0.1,
        request_hash=rows.sha256(str(number)),
    )
    shape_sets.add_member(session, made.id, 0, job.id, 1.0, "a layer")
    shape_sets.finish(session, made.id, "cancelled")
    return made.id


def _recording(problem_id: int, device_id: int, name: str) -> Recording:
    of = {"format": "t4", "origin": "the lab", "named": "a GPU", "label": "native", "complete": True}
    return Recording(problem_id=problem_id, device_id=device_id, digest=rows.sha256(name), **of)


@pytest.fixture
def accesses(stored: Stored, served: Access) -> Iterator[tuple[Access, Access]]:
    """Access to this machine's database: without and with the application."""
    del stored
    with open_access_of(None) as own:
        yield own, served


def alike(accesses: tuple[Access, Access], resource: Resource[BaseModel], asked: Asked | None = None) -> BaseModel:
    """Return the answer of both accesses, which is the same."""
    own, served = (access.read(resource, asked) for access in accesses)
    assert own.model_dump_json() == served.model_dump_json()
    return own


@pytest.mark.parametrize("resource", [JOBS, KERNELS, EVENTS, SHAPE_SETS, RECORDINGS])
def test_every_page_of_a_list_is_that_of_the_application(
    resource: Resource[BaseModel], accesses: tuple[Access, Access]
) -> None:
    ids, before = list[object](), None
    while True:
        listed, before = alike(accesses, resource, {"limit": 1, "before": before}).model_dump().values()
        ids += [row["id"] for row in listed]
        if before is None:
            break
    assert len(set(ids)) == len(ids) == 2


@pytest.mark.parametrize(
    ("resource", "asked", "count"),
    [
        (JOBS, {"limit": 5, "status": ["succeeded"], "device": "opencl-cpu-as-b580"}, 1),
        (JOBS, {"limit": 5, "device": "b580"}, 0),
        (KERNELS, {"limit": 2, "winners": True, "m": 512}, 1),
        (KERNELS, {"limit": 2, "m": 511}, 0),
        (EVENTS, {"limit": 5, "action": "key.create", "subject": None}, 2),
        (EVENTS, {"limit": 5, "subject": "nothing"}, 0),
        (KEYS, None, 2),
        (SCHEDULES, None, 2),
    ],
)
def test_a_filtered_list_is_that_of_the_application(
    resource: Resource[BaseModel], asked: Asked | None, count: int, accesses: tuple[Access, Access]
) -> None:
    listed, *_ = alike(accesses, resource, asked).model_dump().values()
    assert len(listed) == count


def test_what_is_shown_is_that_of_the_application(stored: Stored, accesses: tuple[Access, Access]) -> None:
    for resource in (DEVICES, device_of("bmg"), accuracy_of("b580"), kernel_of(stored.kernel), job_of(stored.job)):
        alike(accesses, resource)
    own, served = (list(each_trial(access, stored.job)) for access in accesses)
    assert [trial.model_dump_json() for trial in own] == [trial.model_dump_json() for trial in served]
    assert [trial.number for trial in own] == [0, 1, 2]
    alike(accesses, set_of(stored.shape_set), {"within": 0.5})
    with pytest.raises(Malformed, match="within"):
        accesses[0].read(set_of(stored.shape_set), {"within": 1.5})


def test_a_table_of_jobs_has_no_rooflines_and_json_has(
    stored: Stored, accesses: tuple[Access, Access], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.api.jobs.service.roof_us", lambda *_: 5.0)
    without, full = (accesses[0].read(resource, {"limit": 5}).jobs for resource in (ROWS, JOBS))
    assert [job.roof_us for job in without] == [None, None]
    assert [job.model_copy(update={"roof_us": None}) for job in full] == without
    told = json.loads(run("jobs", "--json")[1])["jobs"]
    assert [job["roof_us"] for job in told] == [5.0, 5.0]
    assert {job["id"] for job in told} > {str(stored.job)}


def test_ids_recordings_and_sets_are_looked_for_on_every_page(
    stored: Stored, accesses: tuple[Access, Access], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_PAGE", 1)
    monkeypatch.setattr(recording_tables, "_RECORDINGS_A_PAGE", 1)
    monkeypatch.setattr(shape_tables, "_PAGE", 1)
    for access in accesses:
        older = str(stored.job)[:35]
        assert ids.find_job(access, older) == stored.job
        assert len(recording_tables.every_recording(access)) == 2
        assert [len(shape_tables.newest(access, limit)) for limit in (1, 5)] == [1, 2]


def test_a_query_that_does_not_match_is_refused_alike(accesses: tuple[Access, Access]) -> None:
    own, served = accesses
    asked: Asked = {"device": "", "limit": 1}
    with pytest.raises(Malformed) as here:
        own.read(JOBS, asked)
    with pytest.raises(BadRequest) as there:
        served.read(JOBS, asked)
    assert here.value.detail == there.value.detail
    assert here.value.rule == there.value.rule == "too-short"


def test_what_does_not_exist_is_refused_alike(accesses: tuple[Access, Access]) -> None:
    own, served = accesses
    for resource in (accuracy_of("b5800"), kernel_of(UUID("01970a3c-0000-7000-8000-000000000000"))):
        with pytest.raises(NotFound) as here:
            own.read(resource)
        with pytest.raises(Missing) as there:
            served.read(resource)
        assert here.value.detail == there.value.detail
