"""The map of least times: over all trials, by values of parameters wherever configurations keep them."""

from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest
from sqlalchemy import update

from db.queries import jobs
from db.schema.job import Job
from db.schema.target import Device, Problem
from db.schema.trial import Trial
from db.session import Database
from service.dashboard.problems import heat, samples
from service.dashboard.problems.fields import fields_of, paths_of, value_of
from service.dashboard.problems.heat import heat_map, read_heat_map
from service.dashboard.problems.samples import Pair, read_pair
from service.dashboard.sampling import sample_of
from tests.service import dashboard_rows as rows

_TRIALS = 30


@pytest.fixture
def job(database: Database) -> Job:
    """A job of trials whose even numbers are slow, and whose configurations differ in values of every kind."""
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "b60", None))
        kernel = rows.add_kernel(session, job, problem)
        for number in range(_TRIALS):
            trial = rows.add_measured(session, job, number, 90.0 - number % 7 + 500 * (number % 2 == 0), kernel.id)
            session.flush()
            config = trial.config | {
                "flag": number % 3 == 0,
                "order": f"p{number % 2}",
                "split": None if number % 2 else 4,
                "tile": [8, 16 * (1 + number % 2), 32],
                **({"rare": number} if number % 5 == 0 else {}),
            }
            session.execute(update(Trial).where(Trial.id == trial.id).values(config=config))
        jobs.update_best(session, job.id)
    return job


def _pair(database: Database, job: Job) -> Pair:
    with database.read() as session:
        return read_pair(session, session.get_one(Problem, job.problem_id).key, "b60")


def test_the_database_finds_what_a_sample_of_all_has(
    database: Database, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = _pair(database, job)
    named = ("block m", "sg layout"), ("flag", "order"), ("split", "tile n"), ("rare", "flag")
    with database.read() as session:
        found = [heat_map(session, pair, *names) for names in named]
        assert heat_map(session, pair, "split", "none").series == ()
        monkeypatch.setattr(heat, "MOST_TRIALS", 0)
        expected = [heat_map(session, pair, *names) for names in named]
    for one, other in zip(found, expected, strict=True):
        assert (one.x, one.y) == (other.x, other.y)
        drawn = [sorted(zip(of.rows, of.links or (), strict=True), key=str) for of in (*one.series, *other.series)]
        assert drawn[0] == drawn[1]
        assert len(drawn[0]) > 1


def test_a_map_is_of_all_trials_where_other_charts_are_of_a_sample(
    database: Database, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MOST_TRIALS", 4)
    pair = _pair(database, job)
    assert pair.looked_at == 4
    with database.read() as session:
        found = heat_map(session, pair, "order", "flag")
    assert "Of all 30 such times among 30 trials of 1 job." in found.note
    assert sum(row[3] for row in found.series[0].rows if isinstance(row[3], int)) == _TRIALS
    assert min(row[2] for row in found.series[0].rows if isinstance(row[2], float)) == 84.0


def test_a_map_is_made_once_of_what_does_not_change(
    database: Database, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heat, "_KEPT", 2)
    pair = _pair(database, job)
    names = ("order", "flag"), ("flag", "order"), ("split", "tile n")
    with database.read() as session:
        first = [read_heat_map(session, pair, *of) for of in names]
        assert all(read_heat_map(session, pair, *of) is made for of, made in zip(names[1:], first[1:], strict=True))
        assert read_heat_map(session, pair, *names[0]) is not first[0], "the oldest had to go"
    with database.write() as session:
        rows.add_predicted(session, job, _TRIALS, 1.0)
    with database.read() as session:
        found = read_heat_map(session, _pair(database, job), *names[2])
    assert "among 31 trials" in found.note


def test_of_very_many_jobs_the_fastest_is_among_those_looked_at(
    database: Database, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MOST_JOBS", 2)
    with database.write() as session:
        problem, device = session.get_one(Problem, job.problem_id), session.get_one(Device, job.device_id)
        for _ in range(3):
            rows.add_job(session, problem, device)
    pair = _pair(database, job)
    assert len(pair.jobs) == 3
    assert job.id in [of.id for of in pair.jobs]
    assert pair.note == "30 of 30 trials of 3 jobs (the latest and the fastest of 4) have a time"


def test_a_sample_is_even_and_meets_what_recurs() -> None:
    drawn = sample_of(10_000, 1_000)
    assert drawn == sample_of(10_000, 1_000)
    assert drawn[0] == 0
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 1_000
    assert all(i == 0 or number // 10 == i for i, number in enumerate(drawn))
    assert all(len([n for n in drawn if n % 10 == digit]) > 50 for digit in range(10)), "a stride would meet one alone"
    assert sample_of(3, 4) == [0, 1, 2]


def test_every_parameter_is_found_where_it_is_stored() -> None:
    config = rows.config(3) | {"flag": True, "sides": [4, 5, 6], "pair": [4, 2], "none": None}
    fields = fields_of(config)
    assert set(paths_of(config)) == set(fields)
    for name, path in paths_of(config).items():
        assert value_of(reduce(getitem, path, cast("Any", config))) == fields[name]
