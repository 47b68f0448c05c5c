"""Two workers on one job: the one whose lease was lost writes nothing more, and no trial is run twice."""

import threading
import time

import pytest

from db.queries.cluster import leases
from db.schema.trial import Trial
from db.session import Database
from service.cluster.coordinator import Coordinator
from service.jobs.worker_names import own_name
from tests.db.databases import BACKENDS
from tests.faults.jobs import Place, check_whole, ended, job_of, queue

WAIT_S = 60.0
pytestmark = pytest.mark.parametrize("database", BACKENDS, indirect=True)


def test_one_that_stood_still_leaves_the_job_to_the_other(
    database: Database, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after SIGSTOP or on a suspended host: the lease expires in the middle of a trial."""
    job_id, stands_still, goes_on = queue(database), threading.Event(), threading.Event()

    def stand_still() -> None:
        if not stands_still.is_set() and len(ended(database, job_id)) == 2:
            stands_still.set()
            assert goes_on.wait(WAIT_S)

    with monkeypatch.context() as still:
        still.setattr(Coordinator, "_beat", lambda *_: None)
        slow = place.coordinator(database, stand_still, "elsewhere", lease_s=0.2)  # whether it lives cannot be known
        thread = threading.Thread(target=slow.run)
        thread.start()
        assert stands_still.wait(WAIT_S)
    try:
        threading.Event().wait(0.3)
        before = ended(database, job_id)
        assert place.run_jobs(database) == 1
    finally:
        slow.stop()
        goes_on.set()
        thread.join(WAIT_S)
    assert not thread.is_alive()
    after = ended(database, job_id)
    assert {number: after[number] for number in before} == before
    check_whole(database, job_id, place.artifacts)
    assert job_of(database, job_id).attempts == 2


def test_both_ask_at_the_same_moment_and_one_gets_it(database: Database, place: Place) -> None:
    job_id, start = queue(database), threading.Barrier(2)
    hosts = [place.coordinator(database, host=name) for name in ("one", "two")]

    def ask(host: Coordinator) -> None:
        start.wait(WAIT_S)
        host.run()

    threads = [threading.Thread(target=ask, args=(host,)) for host in hosts]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + WAIT_S
    while job_of(database, job_id).status in ("queued", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for host, thread in zip(hosts, threads, strict=True):
        host.stop()
        thread.join(WAIT_S)
    check_whole(database, job_id, place.artifacts)
    assert job_of(database, job_id).attempts == 1


def test_a_trial_that_another_began_is_not_begun_again(database: Database, place: Place) -> None:
    """The lease, checked in the transaction of each write, stops the first worker."""
    job_id = queue(database)
    stolen = threading.Event()

    def steal() -> None:
        if not stolen.is_set() and len(ended(database, job_id)) == 1:
            stolen.set()
            with database.write() as session:
                leases.release(session, job_id, own_name())
                assert leases.claim(session, job_id, "elsewhere/boot/1/1", 600.0) is not None

    assert place.run_jobs(database, steal) == 1
    with database.read() as session:
        written = session.query(Trial).count()
    assert written <= 2, "it went on after the job was another's"
    assert job_of(database, job_id).worker == "elsewhere/boot/1/1"
