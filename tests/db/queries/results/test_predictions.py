"""Predictions are judged by measurements of the same configuration, and the order of jobs follows."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries import jobs
from db.queries.results import kernels, predictions, trials
from db.schema.job import Job
from db.schema.trial import PredictionError, Trial
from db.session import Database
from tests.db import rows
from tests.db.rows import NOON, digest


def judge(session: Session, job: Job, slug: str = "b580", only: str | None = None) -> dict[int, float]:
    """The ratios of the job's trials by number, after judging."""
    predictions.judge(session, job.problem_id, slug, only)
    query = select(Trial.number, PredictionError.ratio).join(PredictionError, PredictionError.trial_id == Trial.id)
    return dict(session.execute(query.where(Trial.job_id == job.id)).all())


def predicted_job(session: Session) -> Job:
    """A job of four predicted trials: 10, 20, 30 and 40 us."""
    job = rows.add_job(session, "b580")
    for number, time_us in enumerate((10.0, 20.0, 30.0, 40.0)):
        rows.add_predicted(session, job, number, time_us)
    return job


def test_a_measurement_of_another_job_judges_the_same_configuration_only(database: Database) -> None:
    with database.write() as session:
        job = predicted_job(session)
        rows.add_measured(session, rows.add_job(session, "b580"), 1, 25.0)
        rows.add_measured(session, rows.add_job(session, "b60"), 0, 5.0)
        rows.add_measured(session, rows.add_job(session, "b580", m=80), 2, 6.0)
        assert judge(session, job) == {1: 1.25}
        best = trials.best(session, job.id)
        assert best is not None
        assert (best.number, job.best_trial_id) == (1, best.id)


def test_a_measurement_of_a_withdrawn_kernel_orders_no_job(database: Database) -> None:
    with database.write() as session:
        job = predicted_job(session)
        first = job.best_trial_id
        there = rows.add_measured(session, rows.add_job(session, "b580"), 3, 5.0)
        kernel = rows.add_kernel(session, job, number=7)  # of another version than that of the job
        there.kernel_id = kernel.id
        judge(session, job)
        session.refresh(job)
        assert job.best_trial_id != first
        kernel.withdrawn, kernel.withdrawn_at = "wrong", NOON
        session.flush()
        jobs.choose_again(session, kernels.jobs_with(session, kernel.id))
        session.refresh(job)
        assert job.best_trial_id == first


def test_the_order_follows_what_was_measured_however_it_was_predicted(database: Database) -> None:
    with database.write() as session:
        job, there = predicted_job(session), rows.add_job(session, "b580")
        assert job.best_trial_id is not None
        for number, median_us in ((0, 90.0), (3, 44.0), (2, 60.0)):
            rows.add_measured(session, there, number, median_us)
        assert judge(session, job) == {0: 9.0, 2: 2.0, 3: 1.1}
        session.expire_all()
        found = jobs.get(session, job.id)
        assert found is not None
        assert found.best_trial is not None
        assert found.best_trial.number == 3
        served = kernels.winners(session, [digest("problem 96")], "b580")[0][digest("problem 96")][0]
        assert (served.job_id, served.number) == (there.id, 3)


def test_a_trials_own_measurement_judges_it_and_of_others_the_fastest(database: Database) -> None:
    with database.write() as session:
        asked, first, second = predicted_job(session), rows.add_job(session, "b580"), rows.add_job(session, "b580")
        own = rows.add_measured(session, first, 0, 30.0)
        rows.predict(session, own, 20.0)
        rows.add_measured(session, second, 0, 15.0)
        assert judge(session, first) == {0: 1.5}
        assert judge(session, asked) == {0: 1.5}
        faster = rows.add_measured(session, rows.add_job(session, "b580"), 0, 12.0)
        assert judge(session, asked, only=digest("config 0")) == {0: 1.2}
        assert judge(session, asked, only=digest("config 9")) == {0: 1.2}
        error = session.get(PredictionError, own.id)
        assert error is not None
        assert error.measured_trial_id == own.id != faster.id


def test_a_job_that_measured_keeps_the_winner_of_its_comparison(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, "b580")
        for number, median_us in enumerate((11.0, 10.0)):
            rows.predict(session, rows.add_measured(session, job, number, median_us), 8.0)
        jobs.set_best(session, job.id, 0)
        judge(session, job)
        session.expire_all()
        found = jobs.get(session, job.id)
        assert found is not None
        assert found.best_trial is not None
        assert found.best_trial.number == 0


def test_numbers_that_are_not_proven_lead_only_with_the_very_kernel_that_was_measured(database: Database) -> None:
    with database.write() as session:
        job, there = rows.add_job(session, "b580"), rows.add_job(session, "b580")
        proven = rows.add_predicted(session, job, 0, 50.0)
        same = rows.add_predicted(session, job, 1, 10.0, proven=False)
        other = rows.add_predicted(session, job, 2, 20.0, proven=False)
        other.kernel_id = proven.kernel_id
        for number, median_us in ((0, 70.0), (1, 60.0), (2, 40.0)):
            rows.add_measured(session, there, number, median_us)
        judge(session, job)
        assert trials.best(session, job.id) is same


def test_a_measurement_counts_once_for_a_model_however_often_it_was_predicted(database: Database) -> None:
    with database.write() as session:
        one, again = predicted_job(session), predicted_job(session)
        measured = rows.add_measured(session, rows.add_job(session, "b580"), 0, 10.5)
        rows.predict(session, measured, 21.0)
        rows.add_measured(session, rows.add_job(session, "b580"), 3, 60.0)
        judge(session, one)
        assert judge(session, again) == {0: 1.05, 3: 1.5}
        found = {(round(j.ratio, 3), j.inside) for j in predictions.judged(session, "b580")}
        assert len(predictions.judged(session, "b580")) == 2
        assert (1.5, False) in found
        assert predictions.judged(session, "b60") == []


def test_runners_up_are_predicted_and_measured_by_nobody_each_once(database: Database) -> None:
    with database.write() as session:
        job = predicted_job(session)
        rows.add_predicted(session, rows.add_job(session, "b580"), 2, 15.0)
        rows.add_predicted(session, rows.add_job(session, "b60"), 5, 3.0)
        rows.add_measured(session, rows.add_job(session, "b580"), 0, 25.0)
        judge(session, job)
        found = predictions.runners_up(session, device="b580", problem_key=digest("problem 96"))
        assert [t.prediction.time_us for t in found if t.prediction] == [15.0, 20.0, 40.0]
        assert {t.job.device.slug for t in predictions.runners_up(session)} == {"b580", "b60"}
        assert predictions.runners_up(session, problem_key=digest("problem 80")) == []
        assert predictions.count_runners_up(session, "b580", {}) == {}
        for faster_than_us, count in ((25.0, 2), (20.0, 1)):
            wanted = {digest("problem 96"): faster_than_us, digest("problem 80"): 99.0}
            assert predictions.count_runners_up(session, "b580", wanted) == {digest("problem 96"): count}
