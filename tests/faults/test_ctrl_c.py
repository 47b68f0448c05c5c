"""Ctrl-C once ends a job after its present trial, twice at once: it is back in the queue and goes on whole."""

import signal

import pytest

from db.queries import trials
from db.session import Database
from service.cli.printing.progress import stopping
from tests.faults.jobs import Place, check_whole, ended, job_of, queue

BEFORE = 2  # trials that have ended when it comes


@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
def test_a_job_that_is_interrupted_goes_on(database: Database, place: Place, times: int) -> None:
    job_id, sent = queue(database), False

    def interrupt() -> None:
        nonlocal sent
        if not sent and len(ended(database, job_id)) == BEFORE:
            sent = True
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    worker, at_once = place.worker(database, interrupt), False
    with stopping(worker.stop) as stopped:
        try:
            worker.run_one(job_id)
        except KeyboardInterrupt:
            at_once = True
    assert (stopped.is_set(), at_once) == (True, times == 2)
    job, before = job_of(database, job_id), ended(database, job_id)
    assert (job.status, job.worker, job.error) == ("queued", None, None)
    with database.read() as session:
        pending = len(trials.list_page(session, job_id)) - len(before)
    assert (len(before), pending) in ([(BEFORE, 0), (BEFORE, 1)] if at_once else [(BEFORE + 1, 0)])
    assert place.run_jobs(database) == 1
    assert {number: ended(database, job_id)[number] for number in before} == before
    check_whole(database, job_id, place.artifacts)
