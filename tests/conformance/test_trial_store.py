"""Behaviour of every TrialStore: in memory, on SQLite and on PostgreSQL."""

import math
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from db.errors import LeaseLost
from db.queries import (
    problems,
)
from db.queries.cluster import leases
from db.session import Database, open_database
from db.values import utc_now
from service.artifacts import ArtifactStore
from service.gemm_json import problem_to_json
from service.jobs.store import DbTrialStore
from tests.conformance.trial_samples import PROBLEM, PROOF, artifact, config, measured, predicted
from tests.db.rows import add_job
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import NOTHING
from tuner.session.trial import (
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    ReusedFrom,
    Status,
    Trial,
    TrialStore,
)


@dataclass(frozen=True)
class Side:
    """A store under test: `reopen` returns the store of a later process; `spend` records the seconds of a run."""

    store: TrialStore
    reopen: Callable[[], TrialStore]
    cancel: Callable[[], None]
    spend: Callable[[float], None]


FAILED = [status for status in Status if status not in (Status.MEASURED, Status.PREDICTED)]
CONTRADICTIONS = {
    "a measurement without its kernel": (replace(measured(0), kernel_hash=None), False),
    "a hash without its kernel": (measured(0), False),
    "a kernel that is not named": (replace(measured(0), kernel_hash=None), True),
    "a measurement without proof": (replace(measured(0), proof=Proof(ProofKind.NONE)), True),
    "a proof without a tolerance": (replace(measured(0), proof=replace(PROOF, tolerance=None)), True),
    "a proof of no work-groups": (replace(measured(0), proof=replace(PROOF, checked=0, total=0)), True),
    "more agreed than there are": (replace(measured(0), proof=replace(PROOF, checked=7)), True),
    "an error above the tolerance": (replace(measured(0), proof=replace(PROOF, max_error=0.75)), True),
    "an error that is not a number": (replace(predicted(0), proof=replace(PROOF, max_error=math.nan)), True),
    "no samples": (replace(measured(0), measurement=Measurement(4, 1, 2, 5, 0, "native", "1")), True),
    "a negative time": (replace(measured(0), measurement=Measurement(4, -1, 2, 5, 9, "native", "1")), True),
    "a median below the minimum": (replace(measured(0), measurement=Measurement(1, 2, 3, 5, 9, "native", "1")), True),
    "an endless time": (replace(measured(0), measurement=Measurement(2, 1, 2, math.inf, 9, "native", "1")), True),
    "an unknown label": (replace(measured(0), measurement=Measurement(4, 1, 2, 5, 9, "guessed", "1")), True),
    "a time outside its interval": (replace(predicted(0), prediction=Prediction(5, 6, 7, "1")), True),
    "an endless interval": (replace(predicted(0), prediction=Prediction(5, 4, math.inf, "1")), True),
    "a kernel of another configuration": (measured(1), True),
}


class TrialStoreContract:
    """Contract of a TrialStore. Subclasses provide the fixture `side`."""

    def test_new_job_has_no_trials(self, side: Side) -> None:
        assert side.store.trials() == []

    def test_begun_trial_has_no_outcome(self, side: Side) -> None:
        side.store.begin(0, config(0))
        assert side.reopen().trials() == [Trial(0, config(0))]

    def test_proposer_comes_back(self, side: Side) -> None:
        side.store.begin(0, config(0), "gp")
        assert side.reopen().trials() == [Trial(0, config(0), proposer="gp")]

    def test_trials_come_in_order_of_number(self, side: Side) -> None:
        for number in (2, 0, 1):
            side.store.begin(number, config(number))
        side.store.end(1, predicted(1), artifact(1))
        assert [trial.number for trial in side.reopen().trials()] == [0, 1, 2]

    def test_measured_outcome_comes_back_whole(self, side: Side) -> None:
        side.store.begin(0, config(0))
        side.store.end(0, measured(0), artifact(0))
        assert side.reopen().trials() == [Trial(0, config(0), measured(0))]

    def test_predicted_outcome_comes_back_whole(self, side: Side) -> None:
        side.store.begin(0, config(0))
        side.store.end(0, predicted(0), artifact(0))
        assert side.reopen().trials() == [Trial(0, config(0), predicted(0))]

    def test_what_was_predicted_of_a_measured_trial_comes_back_beside_it(self, side: Side) -> None:
        outcome = replace(measured(0), prediction=predicted(0, 9.0).prediction)
        side.store.begin(0, config(0))
        side.store.end(0, outcome, artifact(0))
        assert side.reopen().trials() == [Trial(0, config(0), outcome)]

    def test_prediction_needs_no_kernel(self, side: Side) -> None:
        outcome = replace(predicted(0), kernel_hash=None, acceptance=None, proof=Proof(ProofKind.NONE))
        side.store.begin(0, config(0))
        side.store.end(0, outcome, None)
        assert side.reopen().trials() == [Trial(0, config(0), outcome)]

    def test_acceptance_needs_the_kernel(self, side: Side) -> None:
        outcome = replace(predicted(0), kernel_hash=None, proof=Proof(ProofKind.NONE))
        side.store.begin(0, config(0))
        with pytest.raises(ValueError, match="an acceptance needs the kernel that was accepted"):
            side.store.end(0, outcome, None)

    @pytest.mark.parametrize("status", FAILED)
    def test_failure_comes_back_with_its_reason(self, side: Side, status: Status) -> None:
        outcome = Outcome(status, reason="spill: 3 registers", compile_s=0.5)
        side.store.begin(0, config(0))
        side.store.end(0, outcome, None)
        assert side.reopen().trials() == [Trial(0, config(0), outcome)]

    def test_wrong_result_keeps_its_kernel_and_error(self, side: Side) -> None:
        kernel, proof = artifact(0), Proof(ProofKind.SIMULATOR, 0, 6, math.inf, 0.5)
        outcome = Outcome(Status.WRONG_RESULT, "row 3", proof, kernel_hash=kernel.content_hash)
        side.store.begin(0, config(0))
        side.store.end(0, outcome, kernel)
        assert side.reopen().trials() == [Trial(0, config(0), outcome)]

    def test_two_trials_may_share_a_binary(self, side: Side) -> None:
        """Two configurations can compile to the same code."""
        for number in (0, 1):
            side.store.begin(number, config(number))
            side.store.end(number, measured(0), replace(artifact(0), config=config(number), key=artifact(number).key))
        assert [t.outcome for t in side.reopen().trials()] == [measured(0), measured(0)]

    def test_what_is_no_measurement_of_that_kernel_is_not_taken(self, side: Side) -> None:
        source = ReusedFrom("no job of this database", 3, 1.25)
        side.store.begin(0, config(0))
        with pytest.raises(ValueError, match="expected"):
            side.store.reuse(0, predicted(0), source, None)
        with pytest.raises(ValueError, match="the outcome names kernel"):
            side.store.reuse(0, measured(0), source, artifact(1))
        assert side.reopen().trials() == [Trial(0, config(0))]
        with pytest.raises(ValueError, match="not begun"):
            side.store.reuse(1, measured(0), source, None)

    def test_number_is_begun_once(self, side: Side) -> None:
        side.store.begin(0, config(0))
        with pytest.raises(ValueError, match="there already as trial 0"):
            side.store.begin(0, config(1))
        assert side.store.trials() == [Trial(0, config(0))]

    def test_configuration_is_begun_once(self, side: Side) -> None:
        side.store.begin(0, config(0))
        side.store.end(0, measured(0), artifact(0))
        with pytest.raises(ValueError, match="there already as trial 0"):
            side.store.begin(1, config(0))
        assert len(side.store.trials()) == 1

    def test_negative_number_is_refused(self, side: Side) -> None:
        with pytest.raises(ValueError, match="at least 0, got -1"):
            side.store.begin(-1, config(0))

    def test_trial_that_was_not_begun_cannot_end(self, side: Side) -> None:
        with pytest.raises(ValueError, match="not begun"):
            side.store.end(0, measured(0), artifact(0))
        assert side.store.trials() == []

    def test_trial_ends_once(self, side: Side) -> None:
        side.store.begin(0, config(0))
        side.store.end(0, measured(0), artifact(0))
        with pytest.raises(ValueError, match="ended already"):
            side.store.end(0, Outcome(Status.CRASHED, reason="later"), None)
        assert side.store.trials() == [Trial(0, config(0), measured(0))]

    @pytest.mark.parametrize("case", CONTRADICTIONS)
    def test_contradiction_is_refused_and_changes_nothing(self, side: Side, case: str) -> None:
        outcome, with_kernel = CONTRADICTIONS[case]
        kernel = None if not with_kernel else artifact(1 if outcome == measured(1) else 0)
        side.store.begin(0, config(0))
        with pytest.raises(ValueError):
            side.store.end(0, outcome, kernel)
        assert side.reopen().trials() == [Trial(0, config(0))]
        side.store.end(0, measured(0), artifact(0))

    def test_a_trial_begins_with_the_end_of_another(self, side: Side) -> None:
        side.store.begin(0, config(0))
        assert side.store.end(0, measured(0), artifact(0), Trial(1, config(1), proposer="gp"))
        assert side.reopen().trials() == [Trial(0, config(0), measured(0)), Trial(1, config(1), proposer="gp")]
        assert not side.store.end(1, measured(1), artifact(1))
        assert [t.outcome for t in side.reopen().trials()] == [measured(0), measured(1)]

    def test_none_begins_with_the_end_of_another_once_cancelled(self, side: Side) -> None:
        side.store.begin(0, config(0))
        side.cancel()
        assert not side.store.end(0, measured(0), artifact(0), Trial(1, config(1)))
        assert side.reopen().trials() == [Trial(0, config(0), measured(0))]

    def test_what_runs_took_adds_up(self, side: Side) -> None:
        assert side.store.spent_s() == 0.0
        side.spend(2.5)
        side.spend(4.0)
        assert side.reopen().spent_s() == 6.5

    def test_cancel_is_seen(self, side: Side) -> None:
        assert not side.store.cancelled()
        side.cancel()
        assert side.store.cancelled()


class TestMemoryTrialStore(TrialStoreContract):
    """The store in memory."""

    @pytest.fixture
    def side(self) -> Side:
        store = MemoryTrialStore()
        return Side(store, lambda: store, store.cancel, store.spend)


class DbContract(TrialStoreContract):
    """A store in a database; subclasses provide the fixture `url`."""

    @pytest.fixture
    def side(self, url: str, tmp_path: Path) -> Generator[Side]:
        database = open_database(url)
        yield db_side(database, tmp_path / "artifacts")
        database.close()

    def test_a_worker_that_lost_its_job_is_told_so_of_a_trial_that_another_ended(self, side: Side) -> None:
        side.store.begin(0, config(0))
        resumed = side.reopen()
        assert isinstance(resumed, DbTrialStore)
        with resumed.database.write() as session:
            leases.claim_next(session, "another", 60.0, now=utc_now() + timedelta(seconds=61))
        replace(resumed, worker="another").end(0, measured(0), artifact(0))
        with pytest.raises(LeaseLost):
            resumed.end(0, measured(0), artifact(0))
        with pytest.raises(LeaseLost):
            resumed.reuse(0, measured(0), ReusedFrom(str(resumed.job_id), 0, 1.0), None)
        assert side.reopen().trials() == [Trial(0, config(0), measured(0))]


class TestDbTrialStoreOnSqlite(DbContract):
    """The store on SQLite."""

    @pytest.fixture
    def url(self, sqlite_url: str) -> str:
        return sqlite_url


@pytest.mark.postgres
class TestDbTrialStoreOnPostgresql(DbContract):
    """The store on PostgreSQL."""

    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return postgres_url


def db_side(database: Database, folder: Path) -> Side:
    """Create the store of a claimed job."""
    with database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        job_id = add_job(session, problem_id=problem.id).id
        leases.claim(session, job_id, "worker", 60.0)

    def store() -> DbTrialStore:
        return DbTrialStore(database, ArtifactStore(folder), job_id, "worker")

    def cancel() -> None:
        with database.write() as session:
            leases.request_cancel(session, job_id)

    def spend(seconds: float) -> None:
        spending = store()
        spending.spend(asdict(replace(NOTHING, total_s=seconds)) | {"device_restarts": 0})
        spending.flush()

    return Side(store(), store, cancel, spend)
