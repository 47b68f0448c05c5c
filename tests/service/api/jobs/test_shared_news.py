"""Listeners of one job share what is read of it, and none is told what was."""

import pytest
from fastapi.testclient import TestClient

from service.api.jobs import shared
from service.api.jobs.events import read_news
from service.http.context import Context
from tests.service.rest import post_job


def test_it_is_read_once_until_something_is_committed(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, reads = post_job(client), [0]

    def counted(*arguments: object) -> object:
        reads[0] += 1
        return read_news(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(shared, "read_news", counted)
    told = [context.news.read(job, -1) for _ in range(20)]
    assert (reads[0], {news.job.status.value for news in told}) == (1, {"queued"})
    client.post(f"/v1/jobs/{job}/cancel")
    assert context.news.read(job, -1).job.status.value == "cancelled"
    assert reads[0] == 2
