"""DbTrialStore writes kernels, files and the best trial, and nothing after the job is lost."""

import hashlib
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import event, func, select

from codegen import GemmProblem
from db.errors import FenceLost, LeaseLost
from db.queries import jobs, problems
from db.queries.cluster import coordinators, leases
from db.queries.results import kernels, trials
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.trial import Measurement
from db.session import Database, open_database
from db.values import utc_now
from service.artifacts import ArtifactStore, StorageFull
from service.cluster.fenced import FencedDatabase
from service.gemm_json import problem_to_json
from service.jobs.store import DbTrialStore
from tests.conformance.trial_samples import PROBLEM, artifact, config, measured, predicted
from tests.db.rows import add_job
from tuner.session.trial import (
    Outcome,
    Proof,
    ProofKind,
    Status,
    Trial,
)


@pytest.fixture
def store(sqlite_url: str, tmp_path: Path) -> Generator[DbTrialStore]:
    """A store of a job that its worker claimed."""
    database = open_database(sqlite_url)
    with database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        job_id = add_job(session, problem_id=problem.id).id
        leases.claim(session, job_id, "worker", 60.0)
    yield DbTrialStore(database, ArtifactStore(tmp_path / "artifacts"), job_id, "worker")
    database.close()


def run(store: DbTrialStore, number: int, outcome: Outcome) -> None:
    """Begin and end a trial, with its kernel if it names one."""
    store.begin(number, config(number))
    store.end(number, outcome, artifact(number) if outcome.kernel_hash else None)


def best_number(store: DbTrialStore) -> int | None:
    """Number of the job's best trial."""
    with store.database.read() as session:
        job = jobs.get(session, store.job_id)
        assert job is not None
        return None if job.best_trial is None else job.best_trial.number


def count(database: Database, model: type[Kernel | Artifact | Measurement]) -> int:
    """Rows of a table."""
    with database.read() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def test_kernel_is_kept_with_every_file(store: DbTrialStore) -> None:
    run(store, 0, measured(0))
    with store.database.read() as session:
        (found,) = kernels.winners(session, [PROBLEM.key], "opencl-cpu-as-b580")[0][PROBLEM.key]
        assert found.kernel is not None
        kernel = found.kernel
        assert (kernel.content_hash, kernel.compile_key) == (artifact(0).content_hash, artifact(0).key)
        assert (kernel.target, kernel.toolchain, kernel.config_hash) == ("b580", {"llvm": "22.1"}, config(0).key)
        assert found.measurement is not None
        assert found.measurement.versions == {"llvm": "22.1"}
        files = {a.name: store.artifacts.get(a.sha256) for a in kernel.artifacts}
        assert [a.size for a in kernel.artifacts] == [len(data) for data in files.values()]
    assert list(files) == ["xetile.mlir", "llvm.ll", "kernel.spv", "kernel.json"]
    assert hashlib.sha256(files["kernel.spv"]).hexdigest() == artifact(0).content_hash
    assert json.loads(files["kernel.json"]) == kernel.manifest
    steps = cast("list[dict[str, object]]", kernel.manifest["steps"])
    assert steps[0]["local_size"] == [64, 1, 1]


def test_job_names_its_best_trial_as_trials_end(store: DbTrialStore) -> None:
    run(store, 0, Outcome(Status.REJECTED, reason="spill: 3 registers"))
    assert best_number(store) is None
    seen: list[int | None] = []
    for number, outcome in ((1, predicted(1, 3.0)), (2, measured(2, 20.0)), (3, measured(3, 19.0)), (4, measured(4))):
        run(store, number, replace(outcome, kernel_hash=artifact(number).content_hash))
        seen.append(best_number(store))
    run(store, 5, measured(5, 30.0))
    assert [*seen, best_number(store)] == [1, 2, 3, 4, 4]


def test_result_that_is_not_a_number_is_infinitely_wrong(store: DbTrialStore) -> None:
    proof = Proof(ProofKind.SIMULATOR, 0, 6, math.nan, 0.5)
    run(store, 0, Outcome(Status.WRONG_RESULT, "row 3 is not a number", proof))
    (trial,) = store.trials()
    assert trial.outcome is not None
    assert trial.outcome.proof.max_error == math.inf


def test_full_disk_leaves_the_trial_pending_and_no_row(store: DbTrialStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.begin(0, config(0))

    def full(_store: ArtifactStore, _data: bytes) -> str:
        raise StorageFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(ArtifactStore, "put", full)
        with pytest.raises(StorageFull):
            store.end(0, measured(0), artifact(0))
    assert store.trials() == [Trial(0, config(0))]
    assert count(store.database, Kernel) == count(store.database, Artifact) == 0
    store.end(0, measured(0), artifact(0))
    assert store.trials() == [Trial(0, config(0), measured(0))]


def test_failure_between_the_rows_undoes_them_all(store: DbTrialStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.begin(0, config(0))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "update_best", fail)
        with pytest.raises(KeyboardInterrupt):
            store.end(0, measured(0), artifact(0))
    assert store.trials() == [Trial(0, config(0))]
    assert count(store.database, Kernel) == count(store.database, Measurement) == 0


def test_kernel_of_another_problem_is_refused(store: DbTrialStore) -> None:
    store.begin(0, config(0))
    with pytest.raises(ValueError, match="the artifact given is of 80x64x128"):
        store.end(0, measured(0), artifact(0, GemmProblem(80, 64, 128)))
    assert store.trials() == [Trial(0, config(0))]


def test_worker_that_lost_the_job_writes_nothing_more(store: DbTrialStore) -> None:
    store.begin(0, config(0))
    with store.database.write() as session:
        leases.claim_next(session, "another", 60.0, now=utc_now() + timedelta(seconds=61))
    with pytest.raises(LeaseLost):
        store.end(0, measured(0), artifact(0))
    with pytest.raises(LeaseLost):
        store.begin(1, config(1))
    resumed = replace(store, worker="another")
    assert resumed.trials() == [Trial(0, config(0))]
    resumed.end(0, measured(0), artifact(0))
    with store.database.read() as session:
        assert session.scalars(select(Job.attempts)).one() == 2


def test_a_measured_trial_judges_what_was_predicted_of_its_configuration_before(store: DbTrialStore) -> None:
    with store.database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        later_id = add_job(session, problem_id=problem.id).id
        leases.claim(session, later_id, "worker", 60.0)
    later = replace(store, job_id=later_id)
    for number, time_us in ((0, 10.0), (1, 20.0)):
        run(store, number, predicted(number, time_us))
    assert best_number(store) == 0
    run(later, 1, replace(measured(1, 30.0), prediction=predicted(1, 24.0).prediction))
    assert best_number(store) == 1, "the other is only predicted"
    with store.database.read() as session:
        ratios = {
            (trial.job_id, trial.number): trial.prediction.error and trial.prediction.error.ratio
            for job_id in (store.job_id, later_id)
            for trial in trials.list_page(session, job_id)
            if trial.prediction is not None
        }
    assert ratios == {(store.job_id, 0): None, (store.job_id, 1): 1.5, (later_id, 1): 1.25}


def test_what_was_measured_before_judges_a_prediction_at_once(store: DbTrialStore) -> None:
    with store.database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        later_id = add_job(session, problem_id=problem.id).id
        leases.claim(session, later_id, "worker", 60.0)
    later = replace(store, job_id=later_id)
    run(store, 3, measured(3, 30.0))
    run(later, 0, predicted(0, 10.0))
    run(later, 3, predicted(3, 20.0))
    assert best_number(later) == 3


def test_a_trial_takes_few_statements(store: DbTrialStore) -> None:
    """The next one begins with its end. One more stores the key of a measurement, if the device's facts can be read."""
    engine, counted = store.database.engine, Counter[str]()

    class Counting(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = (), /) -> "Counting":
            counted.update([sql.split()[0]])
            super().execute(sql, parameters)
            return self

    class Counted(sqlite3.Connection):
        def cursor(self, factory: Any = Counting) -> Any:
            return super().cursor(factory)

    engine.dispose()
    event.listen(engine, "do_connect", lambda _d, _r, args, named: sqlite3.connect(*args, **named, factory=Counted))
    event.listen(engine, "commit", lambda _: counted.update(["COMMIT"]))
    run(store, 0, replace(measured(0, 10.0), prediction=predicted(0, 9.0).prediction))
    counted.clear()
    store.begin(1, config(1))
    store.spend({"total_s": 2.0})
    outcome = replace(measured(1, 20.0), prediction=predicted(1, 19.0).prediction)
    assert store.end(1, outcome, artifact(1), Trial(2, config(2)))
    assert not store.cancelled()
    assert counted == {"BEGIN": 2, "COMMIT": 2, "INSERT": 7, "UPDATE": 2, "SELECT": 1}
    assert store.spent_s() == 2.0


def test_an_end_that_the_following_begin_fails_is_undone(store: DbTrialStore) -> None:
    run(store, 0, measured(0))
    store.begin(1, config(1))
    with pytest.raises(ValueError, match="there already as trial 0"):
        store.end(1, measured(1), artifact(1), Trial(2, config(0)))
    assert store.trials() == [Trial(0, config(0), measured(0)), Trial(1, config(1))]
    store.end(1, measured(1), artifact(1))


def test_a_request_to_stop_is_seen_by_the_end_of_a_trial_and_afterwards(store: DbTrialStore) -> None:
    store.begin(0, config(0))
    with store.database.write() as session:
        leases.request_cancel(session, store.job_id)
    store.end(0, measured(0), artifact(0))
    assert [store.cancelled(), store.cancelled()] == [True, True]
    again = replace(store)
    assert again.cancelled()


def test_a_fence_that_was_lost_forbids_each_write(store: DbTrialStore) -> None:
    with store.database.write() as session:
        fence = coordinators.acquire(session, "cluster", "worker", 60.0)
    assert fence is not None
    fenced = replace(store, database=FencedDatabase(store.database.engine, fence))
    fenced.begin(0, config(0))
    with store.database.write() as session:
        coordinators.give_up(session, fence)
    fenced.spend({"total_s": 2.0})
    for write in (
        lambda: fenced.begin(1, config(1)),
        lambda: fenced.end(0, measured(0), artifact(0)),
        fenced.flush,
    ):
        with pytest.raises(FenceLost):
            write()
    assert store.trials() == [Trial(0, config(0))]
    assert store.spent_s() == 0.0
