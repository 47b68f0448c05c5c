"""Fixtures of this folder."""

from tests.service.dashboard.chromium import browser

__all__ = ["browser"]
