"""Fixtures of this folder."""

from tests.faults.jobs import place
from tests.service.rest import app, client, clock, context, settings

__all__ = ["app", "client", "clock", "context", "place", "settings"]
