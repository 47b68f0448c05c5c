"""A queued job whose device is in quarantine says so, and how it is released."""

from itertools import count
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from db.queries import quarantines
from service.cli.tuning import running
from service.http.context import Context
from tests.service.cli.both_transports import Run, both
from tests.service.rest import post_job

SAID = "b580 on lab-7 gets no jobs until "


@pytest.fixture
def waiting(one_database: None, client: TestClient, context: Context) -> str:
    """A queued job for a GPU that failed."""
    job = post_job(client, device="b580")
    with context.database.write() as session:
        quarantines.begin(session, host="lab-7", slug="b580", reason="it hung", job_id=None, seconds=60.0)
    return str(job)


def shown(run: Run, job: str) -> list[str]:
    """The outputs of `jobs show` on the database and on the service, as one line each."""
    return [" ".join(out.split()) for _, out, _ in both(run, "jobs", "show", job)]


def test_a_queued_job_is_shown_with_the_quarantine_of_its_device(run: Run, waiting: str, client: TestClient) -> None:
    for said in shown(run, waiting):
        assert SAID in said
        assert "(it hung). `xetune devices release b580` releases it." in said
    client.post(f"/v1/jobs/{waiting}/cancel")
    assert not any(SAID in said for said in shown(run, waiting))


def test_who_follows_a_job_of_a_service_is_told_once(
    run: Run, waiting: str, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls = count(1)

    def pause(_: float) -> None:
        if next(polls) == 30:
            client.post(f"/v1/jobs/{waiting}/cancel")

    monkeypatch.setattr(running, "time", SimpleNamespace(sleep=pause))
    status, _, errors = run("--server", "http://testserver", "jobs", "resume", waiting)
    assert (status, " ".join(errors.split()).count(f"job {waiting} waits: {SAID}")) == (1, 1)
