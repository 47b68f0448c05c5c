"""Results of the queries on devices, problems, jobs, trials, kernels and schedules."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import InvalidRequestError

from db.errors import AlreadyFired
from db.queries import devices, jobs, schedules
from db.queries.cluster import leases
from db.queries.jobs import JobFilter
from db.queries.results import kernels, trials
from db.schema.trial import Trial
from db.session import Database
from tests.db import rows
from tests.db.rows import NOON, digest


def test_device_is_one_row_for_each_driver(database: Database) -> None:
    with database.write() as session:
        old = rows.add_device(session, "b580")
        again = rows.add_device(session, "b580")
        new = devices.upsert(
            session, slug="b580", driver="2.0", name="Arc", kind="gpu", emulates=None, spec={"xe_cores": 20}
        )
        assert (again.id, new.id != old.id) == (old.id, True)
        latest = devices.latest(session, "b580")
        assert latest is not None
        assert (latest.driver, latest.spec) == ("2.0", {"xe_cores": 20})
        assert devices.latest(session, "a770") is None
        assert [d.driver for d in devices.list_all(session)] == ["1.2", "2.0"]


def test_problem_is_one_row_for_each_key(database: Database) -> None:
    with database.write() as session:
        first, again, other = (rows.add_problem(session, m) for m in (96, 96, 80))
        assert first.id == again.id != other.id
        assert (other.m, other.n, other.k, other.transpose_b) == (80, 64, 128, True)
        assert other.definition["epilogue"] == []


def test_job_pages_join_without_gap_or_double(database: Database) -> None:
    with database.write() as session:
        ids = {rows.add_job(session, m=16 * (i + 1)).id for i in range(7)}
    seen: list[UUID] = []
    before: UUID | None = None
    with database.read() as session:
        while page := jobs.list_page(session, limit=3, before=before):
            seen += [job.id for job in page]
            before = page[-1].id
    assert seen == sorted(ids, reverse=True)


def test_jobs_are_filtered_by_status_device_and_problem(database: Database) -> None:
    with database.write() as session:
        first = rows.add_job(session, "b60", 96)
        second = rows.add_job(session, "b580", 80)
        leases.claim(session, first.id, "w", 60.0)
        for wanted, job in ((JobFilter(device="b60"), first), (JobFilter(problem_key=digest("problem 80")), second)):
            assert [found.id for found in jobs.list_page(session, limit=9, wanted=wanted)] == [job.id]
        assert [job.id for job in jobs.list_page(session, limit=9, wanted=JobFilter(("running",)))] == [first.id]
        assert jobs.list_page(session, limit=9, wanted=JobFilter(("failed", "cancelled"))) == []
        found = jobs.matching(session, JobFilter(("queued", "running")))
        assert [(job.id, job.device.slug, job.problem.m) for job in found] == [
            (first.id, "b60", 96),
            (second.id, "b580", 80),
        ]
        assert jobs.matching(session, JobFilter(device="b570")) == []
        assert jobs.count_by_status(session) == {"running": 1, "queued": 1}


def test_identical_job_is_found_while_it_is_active(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
        same = job.request_hash
        assert jobs.active_identical(session, same) is job
        assert jobs.active_identical(session, digest("another")) is None
        leases.claim(session, job.id, "w", 60.0)
        assert jobs.active_identical(session, same) is job
        leases.request_cancel(session, job.id)
        assert jobs.active_identical(session, same) is None


def test_best_trial_is_the_least_median_and_never_a_prediction_beside_it(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
        jobs.update_best(session, job.id)
        assert job.best_trial_id is None
        predicted = rows.add_predicted(session, job, 0, 3.0)
        rows.add_predicted(session, job, 1, 4.0)
        rows.add_predicted(session, job, 5, 1.5, proven=False)
        assert trials.best(session, job.id) is predicted
        rows.add_measured(session, job, 2, 12.0)
        fastest = rows.add_measured(session, job, 3, 11.0)
        rows.predict(session, fastest, 2.0)
        rows.add_measured(session, job, 4, 11.0)
        jobs.update_best(session, job.id)
        job_id = job.id
    with database.read() as session:
        job = jobs.get(session, job_id)
        assert job is not None
        assert job.best_trial is not None
        assert job.best_trial.id == fastest.id
        assert job.best_trial.measurement is not None
        assert job.best_trial.measurement.median_us == 11.0


def test_trials_are_listed_by_number_with_their_times(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
        rows.add_predicted(session, job, 2, 3.0)
        rows.add_measured(session, job, 1, 12.0)
        rows.add_trial(session, job.id, 0)
        listed = trials.list_page(session, job.id)
        assert [(t.number, t.status) for t in listed] == [(0, "pending"), (1, "measured"), (2, "predicted")]
        assert [t.number for t in trials.list_page(session, job.id, after=0, limit=1)] == [1]
        assert listed[1].kernel is not None
        assert trials.history(session, job.id) == [
            (0, "pending", None, None),
            (1, "measured", 12.0, None),
            (2, "predicted", None, 3.0),
        ]
        assert trials.count_by_status(session, job.id) == {"pending": 1, "measured": 1, "predicted": 1}
        assert trials.get(session, job.id, 9) is None


def test_clash_is_found_by_number_or_configuration(database: Database) -> None:
    with database.write() as session:
        job, other = rows.add_job(session), rows.add_job(session, m=80)
        rows.add_trial(session, job.id, 0)
        assert trials.find_clash(session, job.id, 0, digest("new")) is not None
        assert trials.find_clash(session, job.id, 1, digest("config 0")) is not None
        assert trials.find_clash(session, job.id, 1, digest("new")) is None
        assert trials.find_clash(session, other.id, 0, digest("config 0")) is None


def test_same_binary_on_same_device_is_one_kernel(database: Database) -> None:
    with database.write() as session:
        job, elsewhere = rows.add_job(session, "b60"), rows.add_job(session, "b580")
        kernel = rows.add_kernel(session, job)
        assert rows.add_kernel(session, job).id == kernel.id
        assert rows.add_kernel(session, elsewhere).id != kernel.id
        kernel_id = kernel.id
    with database.read() as session:
        kernel = kernels.get(session, kernel_id)
        assert kernel is not None
        assert [a.name for a in kernel.artifacts] == ["kernel.spv"]
        assert (kernel.device.slug, kernel.problem.m, kernel.manifest) == ("b60", 96, {"kernel": "gemm"})
        found = kernels.artifact(session, kernel_id, "kernel.spv")
        assert found is not None
        assert (found.sha256, found.size) == (digest("content 0"), 100)
        assert kernels.artifact(session, kernel_id, "llvm.ll") is None
        assert kernels.hashes_of_files(session, [kernel_id], "kernel.spv") == {kernel_id: digest("content 0")}
        assert kernels.hashes_of_files(session, [kernel_id], "llvm.ll") == {}
        assert len(kernels.list_page(session, limit=9)) == 2
        assert [k.id for k in kernels.list_page(session, limit=9, device="b60")] == [kernel_id]
        assert kernels.list_page(session, limit=9, problem_key=digest("problem 80")) == []


def test_the_winner_of_a_job_is_served_even_if_a_trial_looked_faster(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, "b60", 96)
        rows.add_measured(session, job, 0, 20.0)
        rows.add_measured(session, job, 1, 19.0)
        jobs.set_best(session, job.id, 0)
        jobs.set_comparison(session, job.id, default_us=20.5, best_us=20.5)
    with database.read() as session:
        ((found,),) = kernels.winners(session, [digest("problem 96")], "b60")[0].values()
        assert found.number == 0
        stored = jobs.get(session, job.id)
        assert stored is not None
        assert (stored.compared_default_us, stored.compared_best_us) == (20.5, 20.5)


def test_the_older_of_two_equal_winners_is_served_whatever_was_predicted(database: Database) -> None:
    with database.write() as session:
        older = rows.add_measured(session, rows.add_job(session, "b60", 96), 0, 20.0)
        newer = rows.add_measured(session, rows.add_job(session, "b60", 96), 1, 20.0)
        rows.predict(session, older, 18.0)
        rows.predict(session, newer, 17.0)
        ids = [older.id, newer.id]
    with database.read() as session:
        (found,) = kernels.winners(session, [digest("problem 96")], "b60")[0].values()
        assert [trial.id for trial in found] == ids


def test_best_kernel_is_sought_on_that_device_for_that_problem_only(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, "b60", 96)
        best = rows.add_measured(session, job, 0, 20.0)
        rows.add_measured(session, job, 1, 21.0)
        elsewhere = rows.add_measured(session, rows.add_job(session, "b580", 96), 2, 10.0)
        rows.predict(session, elsewhere, 3.0)
        rows.add_measured(session, rows.add_job(session, "b60", 80), 3, 5.0)
        rows.add_predicted(session, rows.add_job(session, "b60", 96), 4, 2.0)
        best_id, kernel_id = best.id, best.kernel_id
    with database.read() as session:
        measured, by_prediction = kernels.winners(session, [digest("problem 96")], "b60")
        (found,) = measured[digest("problem 96")]
        assert found.kernel is not None
        assert found.measurement is not None
        assert (found.id, found.kernel.id, found.measurement.median_us) == (best_id, kernel_id, 20.0)
        assert (found.kernel.device.slug, found.kernel.problem.m, len(found.kernel.artifacts)) == ("b60", 96, 1)
        (predicted,) = by_prediction[digest("problem 96")]
        assert predicted.prediction is not None
        assert (predicted.number, predicted.prediction.time_us) == (4, 2.0)
        assert kernels.winners(session, [digest("problem 96")], "b580")[1] == {}
        assert kernels.winners(session, [digest("problem 96")], "a770") == ({}, {})


def test_evidence_of_a_kernel_is_its_best_measurement(database: Database) -> None:
    with database.write() as session:
        first, second = rows.add_job(session), rows.add_job(session)
        slow = rows.add_measured(session, first, 0, 20.0)
        fast = rows.add_measured(session, second, 0, 19.0)
        rows.predict(session, slow, 2.0)
        predicted = rows.add_predicted(session, first, 1, 4.0)
        unproven = rows.add_predicted(session, second, 1, 2.0, proven=False)
        assert predicted.kernel_id == unproven.kernel_id
        assert slow.kernel_id == fast.kernel_id
        assert slow.kernel_id is not None
        assert predicted.kernel_id is not None
        found = kernels.evidence(session, [slow.kernel_id, predicted.kernel_id])
        expected = {slow.kernel_id: fast.id, predicted.kernel_id: predicted.id}
        assert {kernel_id: trial.id for kernel_id, trial in found.items()} == expected


def test_what_was_not_asked_for_is_not_loaded_behind_ones_back(database: Database) -> None:
    with database.write() as session:
        trial_id = rows.add_predicted(session, rows.add_job(session), 0, 4.0).id
    with database.read() as session:
        trial = session.get_one(Trial, trial_id)
        with pytest.raises(InvalidRequestError):
            _ = trial.job


def add_schedule(database: Database, name: str = "nightly", **changes: object) -> UUID:
    """Add a schedule that is due at noon."""
    values: dict[str, Any] = {"cron": "0 12 * * *", "timezone": "UTC", "template": {"m": 96}, "misfire_grace_s": 60}
    values |= {"next_due_at": NOON, **changes}
    with database.write() as session:
        return schedules.create(session, name=name, **values).id


def test_due_schedules_are_found_the_longest_overdue_first(database: Database) -> None:
    early = add_schedule(database, "early", next_due_at=NOON - timedelta(hours=1))
    noon = add_schedule(database)
    add_schedule(database, "late", next_due_at=NOON + timedelta(seconds=1))
    add_schedule(database, "off", enabled=False, next_due_at=None)
    with database.read() as session:
        assert [schedule.id for schedule in schedules.due(session, NOON)] == [early, noon]
        assert [schedule.name for schedule in schedules.list_all(session)] == ["early", "late", "nightly", "off"]
        found = schedules.by_name(session, "nightly")
        assert found is not None
        assert (found.id, found.template) == (noon, {"m": 96})
        assert schedules.get(session, noon) is found


def test_due_time_is_fired_once_and_the_second_leaves_no_job(database: Database) -> None:
    schedule_id = add_schedule(database)

    def fire() -> UUID:
        with database.write() as session:
            job_id = rows.add_job(session).id
            schedules.add_fire(session, schedule_id, NOON, outcome="created", jobs=[(job_id, True)])
            return job_id

    job_id = fire()
    with pytest.raises(AlreadyFired, match="2026-03-04T12:00:00"):
        fire()
    with database.read() as session:
        assert [job.id for job in jobs.list_page(session, limit=9)] == [job_id]


def test_deleted_schedule_takes_its_fires_and_leaves_its_jobs(database: Database) -> None:
    schedule_id = add_schedule(database)
    with database.write() as session:
        job_id = rows.add_job(session).id
        schedules.add_fire(session, schedule_id, NOON, outcome="created", jobs=[(job_id, True)])
        schedules.add_fire(session, schedule_id, NOON + timedelta(days=1), outcome="missed")
        fires = schedules.list_fires(session, schedule_id, limit=9)
        assert [(f.outcome, [j.job_id for j in f.jobs]) for f in fires] == [("missed", []), ("created", [job_id])]
    with database.write() as session:
        schedule = schedules.get(session, schedule_id)
        assert schedule is not None
        schedules.delete(session, schedule)
    with database.read() as session:
        assert schedules.list_fires(session, schedule_id, limit=9) == []
        assert jobs.get(session, job_id) is not None
