"""Fixtures of the service on a migrated SQLite file with invented devices, and of its client."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi import FastAPI
from fastapi.testclient import TestClient

from db.queries import jobs
from db.schema.job import Job
from db.session import Database
from hal import DeviceKind, Fact
from hal.devices.listed import (
    NATIVE,
    ListedDevice,
    Runtime,
    listed,
)
from hal.facts.spec import spec_from_facts
from hal.facts.xe import XE_DEVICES
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.tuner.fakes import cpu_spec

PROBLEM = {"m": 512, "n": 384, "k": 1024}
BODY = {"problem": PROBLEM, "device": "b580", "budget": {"trials": 20, "seconds": 60}, "seed": 7}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 4, 12, 0, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def step(self, **by: float) -> None:
        """Advance the clock."""
        self.moment += timedelta(**by)


def context_of(client: TestClient) -> Context:
    """Return the context of the service of a client."""
    assert isinstance(client.app, FastAPI)
    context: Context = client.app.state.context
    return context


def invented_devices() -> list[ListedDevice]:
    """Return a local CPU, the same through OpenCL, and the table of GPUs that are absent."""
    facts = [Fact("driver", "2026.2", "probed"), Fact("cores", 2, "probed")]
    cpu = spec_from_facts("opencl-cpu", "A CPU", DeviceKind.CPU, facts)
    here = ListedDevice(cpu, Runtime.OPENCL, "0:0", runnable=True, targetable=False, note="stands in")
    host = listed(cpu_spec(), Runtime.HOST, NATIVE, runnable=True)
    return [host, here, *(listed(row.spec, Runtime.TABLE, None, runnable=False) for row in XE_DEVICES)]


@pytest.fixture(scope="session", autouse=True)
def one_event_loop() -> Generator[None]:
    """Let all clients have one event loop and its threads: they would start those anew for each request."""
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as portal:
        patch.setattr(TestClient, "portal", portal)
        yield


@pytest.fixture
def clock() -> Clock:
    """The service's clock."""
    return Clock()


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path) -> Settings:
    """Settings of a service that writes only to the test's folder."""
    return Settings(
        data_dir=tmp_path,
        database_url=sqlite_url,
        allowed_hosts="localhost,127.0.0.1,[::1],testserver",
        scheduler=False,
        events_poll_s=0.01,
        max_body_bytes=4096,
    )


@pytest.fixture
def app(settings: Settings, clock: Clock) -> Generator[FastAPI]:
    """The service."""
    made = create_app(settings, invented_devices, clock)
    yield made
    made.state.context.database.close()


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    """A client of the service."""
    return TestClient(app, headers={"Accept": "application/json"})


@pytest.fixture
def context(app: FastAPI) -> Context:
    """Context of the service's routes."""
    context: Context = app.state.context
    return context


def post_job(client: TestClient, **changes: object) -> UUID:
    """Queue a job over REST."""
    answer = client.post("/v1/jobs", json=BODY | changes)
    assert answer.status_code in (200, 202), answer.text
    return UUID(answer.json()["id"])


def row_of(session: object, job_id: UUID) -> Job:
    """The row of a job."""
    job = jobs.get(session, job_id)  # pyright: ignore[reportArgumentType]
    assert job is not None
    return job


def jobs_of(database: Database) -> list[Job]:
    """Every job, newest first."""
    with database.read() as session:
        return jobs.list_page(session, limit=100)
