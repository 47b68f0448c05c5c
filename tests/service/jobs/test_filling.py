"""A filled database is one that the service could have made: its kernels are legal, found, and fit their jobs."""

from pathlib import Path

from sqlalchemy import func, select

from benchmarks.service.filling import fill
from db.queries import jobs
from db.queries.results import trials
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Problem
from db.schema.trial import Trial
from db.session import Database, open_database
from hal import find
from hal.devices.listed import Runtime, listed
from service.api.kernels.lookup.lookup import Lookup
from service.api.kernels.lookup.next_requests import Accepted
from service.artifacts import ArtifactStore
from service.gemm_json import problem_from_json
from service.settings import Settings
from tests.service.rest import Clock

KERNELS, TRIALS = 60, 400


def test_filled_kernels_are_served_for_their_problems(sqlite_url: str, tmp_path: Path) -> None:
    database, until = open_database(sqlite_url), Clock().moment
    told = fill(database, ArtifactStore(tmp_path), KERNELS, TRIALS, until=until)
    assert told == {"jobs": 8, "trials": TRIALS, "kernels": KERNELS}
    sources: set[str] = set()
    with database.read() as session:
        for slug in ("b580", "max1100"):
            device = listed(find(slug), Runtime.TABLE, None, runnable=False)
            for problem in session.scalars(select(Problem)):
                wanted = problem_from_json(problem.definition)
                assert wanted.key == problem.key
                found = Lookup(session, wanted, Accepted(device, Settings()), until).answer()
                sources.add(found.source)
                if found.source in ("exact", "stale"):
                    assert found.kernel is not None
                    assert found.kernel.problem.m == problem.m
                    assert found.launch is not None
    database.close()
    assert sources >= {"exact", "stale"}


def test_the_best_of_filled_jobs_is_the_best_of_their_trials(database: Database, tmp_path: Path) -> None:
    fill(database, ArtifactStore(tmp_path), KERNELS, TRIALS, until=Clock().moment)
    with database.write() as session:
        named = {job.id: job.best_trial_id for job in session.scalars(select(Job))}
        assert None not in named.values()
        for job_id, best_trial_id in named.items():
            best = trials.best(session, job_id)
            assert best is not None
            assert best.id == best_trial_id
        # What comes after gets ids of its own.
        problem = session.scalars(select(Problem)).first()
        assert problem is not None
        assert session.scalar(select(func.count()).select_from(Kernel)) == KERNELS
        job = next(iter(named))
        session.add(Trial(job_id=job, number=99, config={}, config_hash="0" * 64))
        session.flush()
        assert session.scalar(select(func.max(Trial.id))) == TRIALS + 1
        assert jobs.get(session, job) is not None
