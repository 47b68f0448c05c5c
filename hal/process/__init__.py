"""Devices in child processes."""
