"""A job in which nothing valid was found fails with a typed reason, and keeps what became of each trial."""

import pytest

from db.session import Database
from hal import DeviceCrashed, DeviceTimedOut, HalError
from tests.faults.jobs import TRIALS, Place, ended, job_of, queue


@pytest.mark.parametrize(
    ("error", "status", "trials", "recorded"),
    [
        (DeviceTimedOut("no answer within 20 s"), "timed_out", TRIALS, "no-valid-measurement: 4 trials on Fake CPU"),
        (
            DeviceCrashed("SIGSEGV"),
            "crashed",
            5,
            "device-unusable: Fake CPU with AVX-512 failed 5 times in a row; last",
        ),
    ],
    ids=["nothing valid", "a device that is gone"],
)
def test_it_fails_with_its_reason(
    database: Database, place: Place, error: HalError, status: str, trials: int, recorded: str
) -> None:
    job_id = queue(database, max(trials, TRIALS))
    assert place.run_jobs(database, every=error) == 1
    job = job_of(database, job_id)
    assert (job.status, job.best_trial_id, (job.error or "")[: len(recorded)]) == ("failed", None, recorded)
    assert str(error) in (job.error or "")
    assert [became for _, became, _ in ended(database, job_id).values()] == [status] * trials
    assert place.run_jobs(database, every=error) == 0
