"""Reads for many jobs at once return the same as reads for each job."""

import math
import random
from pathlib import Path

import pytest
from sqlalchemy import select

from benchmarks.service.filling import fill
from codegen import GemmProblem
from db.queries.results import warm_starts
from db.schema.job import Job
from db.session import Database
from service.api.kernels.lookup.nearby import Nearby
from service.artifacts import ArtifactStore
from service.gemm_json import config_from_json, problem_to_json
from tests.db.databases import SQLITE_FIRST
from tuner.search.warm_start import OF_A_JOB

pytestmark = pytest.mark.parametrize("database", SQLITE_FIRST, indirect=True)


@pytest.fixture
def filled(database: Database, tmp_path: Path) -> Database:
    """A database with some jobs."""
    fill(database, ArtifactStore(tmp_path), 400, 2_000)
    return database


@pytest.mark.slow
def test_the_fastest_of_jobs_together_are_those_of_each(filled: Database) -> None:
    with filled.read() as session:
        jobs = list(session.scalars(select(Job.id)))
        together = Nearby().tuned(session, jobs)
        assert len(jobs) > 10
        for job in jobs:
            alone = warm_starts.fastest(session, job, OF_A_JOB)
            assert [each.trial_id for each in together[job]] == [trial.id for trial in alone]
            assert [each.config for each in together[job]] == [config_from_json(trial.config) for trial in alone]


@pytest.mark.slow
def test_the_nearest_jobs_are_those_of_the_least_distance_the_newest_first(filled: Database) -> None:
    rng, nearby = random.Random(3), Nearby()
    with filled.read() as session:
        stored = warm_starts.alike(session, problem_to_json(GemmProblem(64, 48, 32)), "b580")
        assert len(stored) > 5
        for _ in range(20):
            problem = GemmProblem(rng.randint(1, 9_000), rng.randint(1, 9_000), 8 * rng.randint(1, 900))
            here = problem.m, problem.n, problem.k, problem.batch
            ranked = sorted((warm_starts.distance(job.sizes, here), place) for place, job in enumerate(stored))
            expected = [(far, stored[place].job_id) for far, place in ranked if far <= 3.0][:5]
            found = nearby.jobs(session, problem, "b580", 3.0, 5)
            assert [job.job_id for _, job in found] == [job_id for _, job_id in expected]
            assert all(math.isclose(a, b, rel_tol=1e-12) for (a, _), (b, _) in zip(found, expected, strict=True))
