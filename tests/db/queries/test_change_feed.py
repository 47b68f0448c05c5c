"""Each write that can change a lookup's answer gives its device and problem a new stamp, in its transaction."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.queries import change_feed, jobs
from db.queries.access import api_keys
from db.queries.insert import insert_row
from db.schema.access import ApiKey
from db.schema.change import KEYS
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.reuse import Reuse
from db.schema.target import Device
from db.schema.trial import Measurement, Prediction, PredictionError, Trial
from db.session import Database
from tests.db import rows
from tests.db.rows import NOON, digest

HERE, THERE = "opencl-cpu-as-b580", "another"


def _origin(session: Session, job: Job) -> None:
    job.origin = "the lab"


def _measured(session: Session, job: Job) -> None:
    rows.add_measured(session, job, 7, 3.0)


def _measured_twice(session: Session, job: Job) -> None:
    _measured(session, job)
    trial_id = session.scalars(select(Trial.id).where(Trial.job_id == job.id)).one()
    values = {"trial_id": trial_id, "time_us": 1.0, "low_us": -1.0, "high_us": 1.0, "model_version": "x"}
    insert_row(session, Prediction, values)


def _predicted(session: Session, job: Job) -> None:
    rows.add_predicted(session, job, 8, 3.0)


def _judged(session: Session, job: Job) -> None:
    by = session.scalars(select(Measurement.trial_id)).first()
    trial = session.scalars(select(Prediction.trial_id)).first()
    session.add(PredictionError(trial_id=trial, measured_trial_id=by, ratio=1.5))


def _reused(session: Session, job: Job) -> None:
    one, other = session.scalars(select(Trial.id).where(Trial.job_id == job.id).order_by(Trial.id)).all()[:2]
    session.add(Reuse(trial_id=other, source_trial_id=one, scale=1.0))


def _doubted(session: Session, job: Job) -> None:
    session.execute(update(Trial).where(Trial.job_id == job.id).values(tolerance=0.9))


def _faster(session: Session, job: Job) -> None:
    here = select(Trial.id).where(Trial.job_id == job.id)
    session.execute(update(Measurement).where(Measurement.trial_id.in_(here)).values(min_us=0.1))


def _compiled_elsewhere(session: Session, job: Job) -> None:
    kernel = session.scalars(select(Kernel).where(Kernel.device_id == job.device_id)).first()
    assert kernel is not None
    kernel.origin = "the lab"


def _with_another_file(session: Session, job: Job) -> None:
    kernel = session.scalars(select(Kernel).where(Kernel.device_id == job.device_id)).first()
    assert kernel is not None
    session.add(Artifact(kernel_id=kernel.id, name="isa.asm", sha256=digest(1), size=1, media_type="text/plain"))


def _of_no_best(session: Session, job: Job) -> None:
    job.best_trial_id = None


def _without_a_file(session: Session, job: Job) -> None:
    here = select(Kernel.id).where(Kernel.device_id == job.device_id)
    session.execute(delete(Artifact).where(Artifact.kernel_id.in_(here)))


CHANGES = (
    _origin,
    _measured,
    _predicted,
    _judged,
    _reused,
    _doubted,
    _faster,
    _compiled_elsewhere,
    _with_another_file,
    _of_no_best,
    _without_a_file,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_a_change_of_results_is_news_of_its_problem_and_device(
    database: Database, change: Callable[[Session, Job], None]
) -> None:
    with database.write() as session:
        job = rows.add_job(session, HERE)
        rows.add_measured(session, job, 0, 10.0)
        rows.add_predicted(session, job, 1, 11.0)
        job.best_trial_id = session.scalars(select(Trial.id)).first()
        other = rows.add_job(session, THERE, m=80)
        rows.add_measured(session, other, 0, 10.0)
    before = _news(database, {}).stamps
    with database.write() as session:
        found = jobs.get(session, job.id)
        assert found is not None
        change(session, found)
    told = _news(database, before)
    assert told.devices == {HERE}
    assert told.results == {HERE: {digest("problem 96")}}
    assert _news(database, told.stamps).subjects == frozenset()


def test_what_no_answer_depends_on_is_no_news(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
        rows.add_measured(session, job, 0, 10.0)
        key = _add_key(session)
    before = _news(database, {}).stamps
    with database.write() as session:
        rows.add_job(session, m=80)
        rows.add_trial(session, job.id, 1)
        api_keys.note_use(session, key, NOON)
    told = _news(database, before)
    assert (told.results, told.subjects - {s for s in told.subjects if s.startswith("device")}) == (
        {slug: frozenset() for slug in told.devices},
        frozenset(),
    )


def test_what_is_rolled_back_is_no_news(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
    before = _news(database, {}).stamps
    with pytest.raises(IntegrityError), database.write() as session:
        _measured_twice(session, job)
    assert _news(database, before).subjects == frozenset()


def test_changes_of_devices_and_keys_are_news_of_them_alone(database: Database) -> None:
    with database.write() as session:
        rows.add_device(session)
        key = _add_key(session)
    before = _news(database, {}).stamps
    assert KEYS in before
    with database.write() as session:
        session.execute(update(Device).values(spec={"changed": True}))
    told = _news(database, before)
    assert (told.devices, told.results) == ({HERE}, {HERE: frozenset()})
    with database.write() as session:
        session.execute(update(ApiKey).where(ApiKey.id == key).values(revoked_at=NOON + timedelta(days=1)))
    assert _news(database, told.stamps).subjects == {KEYS}


def test_each_commit_has_its_own_stamp(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
    seen: list[int] = []
    for number in range(3):
        with database.write() as session:
            found = jobs.get(session, job.id)
            assert found is not None
            rows.add_measured(session, found, number, 10.0)
            rows.add_trial(session, job.id, 10 + number)
        seen += [stamp for subject, stamp in _news(database, {}).stamps.items() if subject.startswith("device")]
    assert len(set(seen)) == 3
    assert seen == sorted(seen)


def _news(database: Database, before: object) -> change_feed.News:
    with database.read() as session:
        return change_feed.news(session, before)  # pyright: ignore[reportArgumentType]


def _add_key(session: Session) -> UUID:
    made = api_keys.create(
        session, name="ci", prefix="0" * 12, secret_sha256=digest(0), scope="read", now=NOON, expires_at=None
    )
    return made.id


def test_one_transaction_tells_all_problems_and_devices_that_it_changes(database: Database) -> None:
    with database.write() as session:
        jobs_of = [rows.add_job(session), rows.add_job(session, m=80), rows.add_job(session, THERE)]
    before = _news(database, {}).stamps
    with database.write() as session:
        for number in range(2):
            for job in jobs_of:
                rows.add_measured(session, session.merge(job), number, 10.0)
    told = _news(database, before)
    assert told.results == {HERE: {digest("problem 96"), digest("problem 80")}, THERE: {digest("problem 96")}}


def test_a_change_after_one_that_a_savepoint_undid_is_news(database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session)
    before = _news(database, {}).stamps
    with database.write() as session:
        if session.get_bind().dialect.name == "postgresql":
            session.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
        with pytest.raises(IntegrityError), session.begin_nested():
            _measured_twice(session, job)
        rows.add_measured(session, session.merge(job), 9, 10.0)
    assert _news(database, before).results == {HERE: {digest("problem 96")}}
