"""A small job on an invented device, run by the worker, the tuner and the store that the service has."""

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from db.queries import trials
from db.schema import (
    Artifact,
    Job,
    Kernel,
    Trial,
)
from db.session import Database
from hal import HalError
from hal.facts.listed import (
    Backend,
    ListedDevice,
)
from service.api.jobs.requests import (
    JobRequest,
    submit,
)
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.local import LocalPlace
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from service.settings import Settings
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, Fuse, cpu_spec

SPEC = cpu_spec()
HERE = ListedDevice(SPEC, Backend.HOST, "native", runnable=True, targetable=True, note="")
TRIALS = 4


class Steps(Fuse):
    """Calls something at each step of compiler and device."""

    def __init__(self, at_each: Callable[[], None]) -> None:
        super().__init__()
        self._at_each = at_each

    def step(self) -> None:
        self._at_each()


@dataclass(frozen=True)
class Place:
    """A folder with artifacts, a database that need not be in it, and workers of both."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def artifacts(self) -> ArtifactStore:
        """The artifacts of the place."""
        return ArtifactStore(self.folder / "artifacts")

    def worker(
        self,
        database: Database,
        at_each: Callable[[], None] = lambda: None,
        host: str = "here",
        every: HalError | None = None,
        **settings: object,
    ) -> Worker:
        """A worker; `at_each` is called when a compilation begins or ends, and before and after each launch.

        Those of one `host` share its device, on which each launch fails with `every`.
        """
        steps = Steps(at_each)
        self.monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(FakeCompiler(fuse=steps)))
        self.monkeypatch.setattr(local, "open_device", lambda _: FakeDevice(SMALL, SPEC, every=every, fuse=steps))
        of = Settings(data_dir=self.folder, worker_poll_s=0.02).model_copy(update=settings)
        locks = self.folder / f"locks of {host}"
        here = LocalPlace(lambda _: HERE, locks)
        run = Tuning(database, self.artifacts, self.folder / "cache", place=here).run
        return Worker(database, of, run)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place in a folder of the test's own."""
    return Place(tmp_path, monkeypatch)


def queue(database: Database, trials: int = TRIALS) -> UUID:
    """Queue the job."""
    with database.write() as session:
        job, _ = submit(session, JobRequest(SMALL, SPEC, trials, seconds=600.0, seed=7), max_active=10)
        return job.id


def job_of(database: Database, job_id: UUID) -> Job:
    """The row of the job."""
    with database.read() as session:
        row = session.get(Job, job_id)
        assert row is not None
        return row


def ended(database: Database, job_id: UUID) -> dict[int, tuple[str, str, object]]:
    """Number -> configuration, status and end of the trials that ended."""
    with database.read() as session:
        rows = trials.list_page(session, job_id)
        return {row.number: (row.config_hash, row.status, row.ended_at) for row in rows if row.status != "pending"}


def check_whole(database: Database, job_id: UUID, artifacts: ArtifactStore, trials: int = TRIALS) -> None:
    """Check that the job succeeded, that each trial was done once, and that every file of its kernels is there."""
    done = ended(database, job_id)
    assert (job_of(database, job_id).status, sorted(done)) == ("succeeded", list(range(trials)))
    assert {status for _, status, _ in done.values()} == {"measured"}
    assert len({config for config, _, _ in done.values()}) == trials
    with database.read() as session:
        assert session.query(Trial).count() == trials
        assert session.query(Kernel).count() == trials
        hashes = {file.sha256 for file in session.query(Artifact)}
    for sha256 in hashes:
        assert hashlib.sha256(artifacts.get(sha256)).hexdigest() == sha256
