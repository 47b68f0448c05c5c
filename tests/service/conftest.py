"""Fixtures of this folder."""

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
