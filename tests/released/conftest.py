"""Fixtures of this folder."""

from tests.service.rest import app, client, clock, one_event_loop, settings

__all__ = ["app", "client", "clock", "one_event_loop", "settings"]
