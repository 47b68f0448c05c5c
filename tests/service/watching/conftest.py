"""Fixtures of this folder."""

from tests.faults.jobs import place

__all__ = ["place"]
