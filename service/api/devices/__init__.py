"""Devices that can be tuned for, over REST."""
