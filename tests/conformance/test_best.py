"""The best trial is the same one wherever it is asked for: in a session's history, of a job, of a problem's jobs."""

from typing import NamedTuple

import pytest

from db.queries import jobs
from db.queries.results import kernels, trials
from db.schema.trial import Prediction
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
    """A trial with a time: its upper bound and burden if it is predicted."""

    time_us: float
    high_us: float | None = None
    proven: bool = True
    burden: float = 0.0


_SLOW = Timed(400, 900)  # a default
CASES = {
    "the default of a tie": ([Timed(106.9, 150, burden=9), Timed(100, 120), Timed(100.5, 121)], 0),
    "a gain beyond the resolution replaces the default": ([Timed(107.1, 150), Timed(100, 160, burden=9)], 1),
    "the least burden of a tie without the default": ([_SLOW, Timed(100, 120, burden=3), Timed(106, 150)], 2),
    "the least upper bound of one burden": ([_SLOW, Timed(100, 150), Timed(106, 120), Timed(103, 121)], 2),
    "beyond the resolution no burden helps": ([_SLOW, Timed(100, 150, burden=9), Timed(107.1, 110)], 1),
    "a chain is no tie": ([_SLOW, Timed(100, 150), Timed(106, 140), Timed(112, 120)], 2),
    "what gains too little over the default is not taken": (
        [Timed(110, 150), Timed(100, 150, burden=9), Timed(104, 120)],
        1,
    ),
    "the lowest number of equals": ([_SLOW, Timed(101, 130), Timed(100, 130), Timed(100, 130)], 1),
    "a default that is not proven wins no tie": ([Timed(100, 120, proven=False), Timed(105, 150)], 1),
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
            prediction.high_us, prediction.burden = of.high_us, of.burden
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
                prediction.high_us, prediction.burden = of.high_us, of.burden
            jobs.set_best(session, job.id, number)
        session.flush()
        session.expire_all()
        key = digest("problem 96")
        measured, predicted = kernels.winners(session, [key], "b60")
        assert (measured or predicted)[key][0].number == expected


def _outcome(of: Timed) -> Outcome:
    proof = PROOF if of.proven else Proof(ProofKind.NONE)
    if of.high_us is not None:
        foreseen = Foreseen(of.time_us, of.time_us / 2, of.high_us, "1", of.burden)
        return Outcome(Status.PREDICTED, proof=proof, prediction=foreseen)
    t = of.time_us
    return Outcome(Status.MEASURED, proof=proof, measurement=Measurement(t, t, t, t, 9, "native", "1"))


def test_both_statements_mean_the_same_tie() -> None:
    from db.queries.results.trials import RESOLUTION

    assert best.RESOLUTION == RESOLUTION
