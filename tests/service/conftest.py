"""Fixtures of this folder."""

import pytest

from tests.codegen.workers.shared_workers import shared_workers, started_workers
from tests.faults.jobs import place
from tests.service.rest import app, client, clock, context, one_event_loop, settings

__all__ = [
    "app",
    "client",
    "clock",
    "context",
    "one_event_loop",
    "place",
    "settings",
    "shared_workers",
    "started_workers",
]


@pytest.fixture(autouse=True)
def no_policy_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command defers models and leaves modules out for all of its process, which here is that of the tests."""
    monkeypatch.setattr("service.cli.main._prepare", lambda _: None)
