"""A list that is read with the database is the one that the application answers, as are its refusals."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from pydantic import BaseModel

from db.queries import jobs
from service.api.keys.schemas import KeyBody
from service.api.keys.scope import Scope
from service.api.keys.service import create
from service.cli.application import in_process
from service.cli.devices.resources import DEVICES, accuracy_of
from service.cli.exchange.recording_tables import RECORDINGS
from service.cli.operating.audit_tables import EVENTS
from service.cli.operating.key_tables import KEYS
from service.cli.operating.schedule_tables import SCHEDULES
from service.cli.reading import Asked, ClientReader, Reader, Resource, reading_of
from service.cli.tuning.job_lists import JOBS
from service.cli.tuning.kernel_lists import KERNELS, kernel_of
from service.cli.tuning.shape_tables import SHAPE_SETS
from service.errors import Malformed, NotFound
from service.http.context import Context
from tests.service import dashboard_rows as rows
from xetune_client import BadRequest
from xetune_client import NotFound as Missing

pytestmark = pytest.mark.usefixtures("one_database")
_PAGE: Asked = {"limit": 1, "before": None}


@pytest.fixture
def kernel_id(context: Context) -> UUID:
    """A kernel that won the first of two jobs; a key."""
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        job = rows.add_job(session, problem, device, "succeeded")
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((300.0, 150.0, 180.0)):
            rows.add_measured(session, job, number, median_us, kernel.id)
        jobs.update_best(session, job.id)
        rows.add_job(session, problem, device, "queued")
        create(session, KeyBody(name="nightly", scope=Scope.READ), context.now())
        return kernel.id


@pytest.fixture
def readers(kernel_id: UUID) -> Iterator[tuple[Reader, Reader]]:
    """Readers of this machine's database: without and with the application."""
    del kernel_id
    with reading_of(None) as own, in_process() as client:
        yield own, ClientReader(client)


@pytest.mark.parametrize(
    ("resource", "asked", "count"),
    [
        (JOBS, {"limit": 5, "before": None, "status": ["succeeded", "queued"], "device": "opencl-cpu-as-b580"}, 2),
        (JOBS, _PAGE, 1),
        (KERNELS, {"limit": 2, "winners": True, "m": 512}, 1),
        (KERNELS, {"limit": 2, "m": 511}, 0),
        (KEYS, None, 1),
        (EVENTS, _PAGE | {"action": "job.create", "subject": None}, 0),
        (SCHEDULES, None, 0),
        (SHAPE_SETS, _PAGE, 0),
        (RECORDINGS, _PAGE, 0),
    ],
)
def test_a_list_is_that_of_the_application(
    resource: Resource[BaseModel], asked: Asked | None, count: int, readers: tuple[Reader, Reader]
) -> None:
    own, served = (reader.read(resource, asked) for reader in readers)
    assert own.model_dump_json() == served.model_dump_json()
    listed, *_ = own.model_dump().values()
    assert len(listed) == count


def test_devices_their_accuracy_and_a_kernel_are_those_of_the_application(
    kernel_id: UUID, readers: tuple[Reader, Reader]
) -> None:
    for resource in (DEVICES, accuracy_of("b580"), kernel_of(kernel_id)):
        own, served = (reader.read(resource) for reader in readers)
        assert own.model_dump_json() == served.model_dump_json()


def test_a_query_that_does_not_match_is_refused_alike(readers: tuple[Reader, Reader]) -> None:
    own, served = readers
    asked: Asked = {"device": "", "limit": 1}
    with pytest.raises(Malformed) as here:
        own.read(JOBS, asked)
    with pytest.raises(BadRequest) as there:
        served.read(JOBS, asked)
    assert here.value.detail == there.value.detail
    assert here.value.rule == there.value.rule == "too-short"


def test_what_does_not_exist_is_refused_alike(readers: tuple[Reader, Reader]) -> None:
    own, served = readers
    for resource in (accuracy_of("b5800"), kernel_of(UUID("01970a3c-0000-7000-8000-000000000000"))):
        with pytest.raises(NotFound) as here:
            own.read(resource)
        with pytest.raises(Missing) as there:
            served.read(resource)
        assert here.value.detail == there.value.detail
