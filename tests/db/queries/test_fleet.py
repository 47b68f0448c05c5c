"""Trials, work, prediction errors and gains are counted by device and period."""

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from db.queries import fleet, jobs
from db.queries.fleet import Median, OutcomeCount, Period, Work
from db.queries.results import predictions
from db.schema.job import Job
from db.session import Database
from tests.db import rows

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
WEEK = timedelta(days=7)
PERIODS = [Period(MONDAY + place * WEEK, MONDAY + (place + 1) * WEEK) for place in range(2)]


def job_at(session: Session, at: datetime, slug: str = "b580", **values: object) -> Job:
    """A job that was created then."""
    job = rows.add_job(session, slug, m=96)
    for name, value in {"created_at": at, **values}.items():
        setattr(job, name, value)
    session.flush()
    return job


def test_a_trial_counts_in_the_period_and_for_the_device_of_its_job(database: Database) -> None:
    with database.write() as session:
        first = job_at(session, MONDAY, total_s=30.0)
        last = job_at(session, MONDAY + WEEK - timedelta(microseconds=1), total_s=12.0)
        other = job_at(session, MONDAY + WEEK, "b60")
        for job, count in ((first, 2), (last, 1), (other, 3)):
            for number in range(count):
                rows.add_measured(session, job, number, 10.0)
        rows.add_trial(session, first.id, 7)  # pending
        rows.add_predicted(session, other, 8, 20.0)
        for at in (MONDAY - timedelta(microseconds=1), MONDAY + 2 * WEEK):
            rows.add_measured(session, job_at(session, at), 0, 10.0)
        rows.add_measured(session, job_at(session, MONDAY, origin="a lab"), 0, 10.0)
        assert sorted(fleet.outcomes(session, PERIODS)) == [
            OutcomeCount("b580", 0, "measured", 3),
            OutcomeCount("b60", 1, "measured", 3),
            OutcomeCount("b60", 1, "predicted", 1),
        ]
        assert {type(each.count) for each in fleet.outcomes(session, PERIODS)} == {int}
        assert sorted(fleet.work(session, PERIODS)) == [Work("b580", 0, 2, 0, 42.0), Work("b60", 1, 1, 0, 0.0)]
        assert fleet.devices(session) == ["b580", "b60"]
        assert fleet.first_job_at(session) == MONDAY - timedelta(microseconds=1)


def test_prediction_errors_are_medians_of_factors_in_either_direction(database: Database) -> None:
    with database.write() as session:
        job = job_at(session, MONDAY)
        for number, median_us in enumerate((10.0, 25.0, 80.0, 30.0)):  # factors 2, 1.25, 4 and 1.5
            rows.predict(session, rows.add_measured(session, job, number, median_us), 20.0)
        predictions.judge(session, job.problem_id, "b580")
        assert fleet.prediction_errors(session, PERIODS) == [Median("b580", 0, "predicted", 4, 1.75)]
        odd = job_at(session, MONDAY + WEEK, "b60")
        for number, median_us in enumerate((25.0, 80.0, 30.0)):
            rows.predict(session, rows.add_measured(session, odd, number, median_us), 20.0)
        predictions.judge(session, odd.problem_id, "b60")
        assert fleet.prediction_errors(session, PERIODS)[-1] == Median("b60", 1, "predicted", 3, 1.5)


def test_gains_are_of_re_measured_times_or_of_predicted_ones(database: Database) -> None:
    with database.write() as session:
        for default_us, best_us in ((30.0, 20.0), (40.0, 20.0), (90.0, 20.0)):
            job = job_at(session, MONDAY)
            rows.add_measured(session, job, 0, 1.0e3)
            jobs.set_comparison(session, job.id, default_us=default_us, best_us=best_us)
        rows.add_measured(session, job_at(session, MONDAY), 0, 10.0)  # not re-measured
        foreseen = job_at(session, MONDAY, "b60")
        rows.add_predicted(session, foreseen, 0, 50.0)
        rows.add_predicted(session, foreseen, 1, 40.0)
        assert fleet.gains(session, PERIODS) == [
            Median("b580", 0, "emulated", 3, 2.0),
            Median("b60", 0, "predicted", 1, 1.25),
        ]
