"""The best trial is the same one wherever it is asked for: in a session's history, of a job, of a problem's jobs."""

from typing import NamedTuple

import pytest

from db.queries import (
    jobs,
    kernels,
    trials,
)
from db.schema import Prediction
from db.session import Database
from tests.conformance.trial_samples import PROOF, config
from tests.db.rows import add_job, add_measured, add_predicted, digest
from tuner.session import best
from tuner.session.trial import (
    Measurement,
    Outcome,
    Proof,
    ProofKind,
    Status,
    Trial,
)
from tuner.session.trial import Prediction as Foreseen


class Timed(NamedTuple):
    """A trial with a time: its upper bound if it is predicted."""

    time_us: float
    high_us: float | None = None
    proven: bool = True


CASES = {
    "the least upper bound of a tie": ([Timed(100, 150), Timed(100.9, 120), Timed(100.5, 121)], 1),
    "beyond 1 % no bound helps": ([Timed(100, 150), Timed(101.1, 102)], 0),
    "a chain is no tie": ([Timed(100, 150), Timed(100.9, 140), Timed(101.8, 110)], 1),
    "the lowest number of equals": ([Timed(101, 130), Timed(100, 130), Timed(100, 130)], 0),
    "what is not proven makes no tie and wins none": ([Timed(90, 95, proven=False), Timed(100, 150)], 1),
    "measured by median alone": ([Timed(100), Timed(99.9), Timed(100.4)], 1),
    "measured before predicted": ([Timed(50, 60), Timed(100), Timed(49, 52)], 1),
    "the first of equal medians": ([Timed(100), Timed(99), Timed(99)], 1),
}
CASE = pytest.mark.parametrize(("timed", "expected"), CASES.values(), ids=CASES)


@CASE
def test_in_a_history(timed: list[Timed], expected: int) -> None:
    found = best.best_of([Trial(n, config(n), _outcome(of)) for n, of in reversed([*enumerate(timed)])])
    assert found is not None
    assert found.number == expected


def test_of_nothing_nothing_is_the_best() -> None:
    assert best.best_of([Trial(0, config(0)), Trial(1, config(1), _outcome(Timed(4, 5, proven=False)))]) is None


@CASE
def test_of_a_job(database: Database, timed: list[Timed], expected: int) -> None:
    with database.write() as session:
        job = add_job(session)
        for number, of in enumerate(timed):
            if of.high_us is None:
                add_measured(session, job, number, of.time_us)
                continue
            row = add_predicted(session, job, number, of.time_us, proven=of.proven)
            prediction = session.get(Prediction, row.id)
            assert prediction is not None
            prediction.high_us = of.high_us
        session.flush()
        session.expire_all()
        found = trials.best(session, job.id)
        assert found is not None
        assert found.number == expected


@CASE
def test_of_the_winners_of_jobs(database: Database, timed: list[Timed], expected: int) -> None:
    if not all(of.proven for of in timed):
        pytest.skip("no such trial wins a job")
    with database.write() as session:
        for number, of in enumerate(timed):
            job = add_job(session, "b60", 96)
            if of.high_us is None:
                add_measured(session, job, number, of.time_us)
            else:
                row = add_predicted(session, job, number, of.time_us)
                prediction = session.get(Prediction, row.id)
                assert prediction is not None
                prediction.high_us = of.high_us
            jobs.set_best(session, job.id, number)
        session.flush()
        session.expire_all()
        key = digest("problem 96")
        found = kernels.best_measured(session, key, "b60") or kernels.best_predicted(session, key, "b60")
        assert found is not None
        assert found.number == expected


def _outcome(of: Timed) -> Outcome:
    proof = PROOF if of.proven else Proof(ProofKind.NONE)
    if of.high_us is not None:
        return Outcome(Status.PREDICTED, proof=proof, prediction=Foreseen(of.time_us, of.time_us / 2, of.high_us, "1"))
    t = of.time_us
    return Outcome(Status.MEASURED, proof=proof, measurement=Measurement(t, t, t, t, 9, "native", "1"))


def test_both_statements_mean_the_same_tie() -> None:
    from db.queries.trials import TIE

    assert best.TIE == TIE
