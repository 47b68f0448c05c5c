"""Fixtures of this folder."""

from tests.service.rest import app, client, clock, context, settings

__all__ = ["app", "client", "clock", "context", "settings"]
