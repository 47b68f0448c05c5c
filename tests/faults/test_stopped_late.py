"""A job that does not end within the bound of a stop is put back without it; its trial is neither lost nor doubled."""

import threading
import time
from functools import partial

import pytest

from db.queries.results import trials
from db.session import Database
from service.cluster.coordinator import Coordinator
from tests.faults.jobs import TRIALS, Place, check_whole, ended, job_of, queue

WAIT_S = 60.0


def running(one: Coordinator) -> threading.Thread:
    """The thread of one."""
    thread = threading.Thread(target=one.run)
    thread.start()
    return thread


@pytest.mark.parametrize("trial", [2, pytest.param(0, marks=pytest.mark.slow)])
def test_its_trial_is_done_again_under_its_number_and_what_comes_late_is_refused(
    place: Place, database: Database, trial: int
) -> None:
    job_id, stuck, go = queue(database), threading.Event(), threading.Event()

    def step() -> None:
        if len(ended(database, job_id)) == trial and not stuck.is_set():
            stuck.set()
            assert go.wait(WAIT_S)

    slow = partial(place.coordinator, database, shutdown_s=1, lease_s=600.0)  # a job may take a second to end
    first = slow(step, "one")
    thread = running(first)
    assert stuck.wait(WAIT_S)
    before = ended(database, job_id)
    first.stop()
    thread.join(WAIT_S)  # the launch still runs
    assert not thread.is_alive()
    (late,) = [each for each in threading.enumerate() if each.name == f"job {job_id}"]
    job = job_of(database, job_id)
    assert (job.status, job.worker, ended(database, job_id)) == ("queued", None, before)

    second = slow(host="two")
    thread = running(second)
    deadline = time.monotonic() + WAIT_S
    while job_of(database, job_id).status != "succeeded":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    second.stop()
    thread.join(WAIT_S)
    after = ended(database, job_id)
    go.set()
    late.join(WAIT_S)
    assert not late.is_alive()
    check_whole(database, job_id, place.artifacts)
    assert ended(database, job_id) == after
    assert {number: after[number] for number in before} == before
    assert job_of(database, job_id).attempts == 2
    with database.read() as session:
        assert len(trials.list_page(session, job_id)) == TRIALS
