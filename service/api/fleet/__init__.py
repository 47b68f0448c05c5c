"""Aggregates of all devices over time."""
