"""A small job on an invented device, run by the coordinator, the tuner and the store that the service has."""

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from db.queries.results import trials
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.trial import Trial
from db.session import Database
from hal import HalError
from hal.devices.listed import ListedDevice, Runtime
from service.api.jobs.requests import (
    submit,
)
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.coordinator import Coordinator
from service.cluster.local import LocalExecutor
from service.jobs.tuning import Tuning
from service.settings import Settings
from tests.service.cluster.job_loop import RunAt, coordinator, run_jobs
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, Fuse, cpu_spec
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec

SPEC = cpu_spec()
HERE = ListedDevice(SPEC, Runtime.HOST, "native", runnable=True, targetable=True, note="")
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
    """A folder with artifacts, a database that need not be in it, and what runs jobs on both."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def artifacts(self) -> ArtifactStore:
        """The artifacts of the place."""
        return ArtifactStore(self.folder / "artifacts")

    def local(self, host: str = "here") -> LocalExecutor:
        """The device of the host of that name, under its lock."""
        return LocalExecutor(lambda _: HERE, self.folder / f"locks of {host}", lambda: {SPEC.id})

    def run_at(
        self, at_each: Callable[[], None] = lambda: None, every: HalError | None = None, host: str = "here"
    ) -> RunAt:
        """Return what runs jobs; each launch fails with `every`.

        `at_each` is called when a compilation begins or ends, and before and after each launch.
        """
        steps = Steps(at_each)
        self.monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(FakeCompiler(fuse=steps)))
        self.monkeypatch.setattr(local, "open_device", lambda _: FakeDevice(SMALL, SPEC, every=every, fuse=steps))
        cache, here = self.folder / "cache", self.local(host)
        return lambda database, _: Tuning(database, self.artifacts, cache, executor=here).run

    def settings(self, **changes: object) -> Settings:
        """Settings of a coordinator or worker that looks for jobs often."""
        return Settings(data_dir=self.folder, worker_poll_s=0.02).model_copy(update=changes)

    def coordinator(
        self,
        database: Database,
        at_each: Callable[[], None] = lambda: None,
        host: str | None = None,
        **settings: object,
    ) -> Coordinator:
        """Return a coordinator as `xetune worker` has one; one with a `host` is of another machine of that name."""
        run_at = self.run_at(at_each, host=host or "here")
        holder = host and f"{host}/boot/1/1"
        return coordinator(database, self.settings(**settings), run_at, self.local(host or "here"), holder)

    def run_jobs(
        self,
        database: Database,
        at_each: Callable[[], None] = lambda: None,
        every: HalError | None = None,
        **settings: object,
    ) -> int:
        """Run the jobs that wait, and return how many were claimed."""
        return run_jobs(database, self.settings(**settings), self.run_at(at_each, every), self.local())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place in a folder of the test's own."""
    return Place(tmp_path, monkeypatch)


def queue(database: Database, trials: int = TRIALS) -> UUID:
    """Queue the job."""
    with database.write() as session:
        spec = JobSpec(problem=SMALL, device=SPEC, budget=Budget(trials, 600.0), seed=7)
        job, _ = submit(session, spec, 10, COMMAND_LINE)
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
