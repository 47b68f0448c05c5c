"""Tuning jobs over REST: start, follow, cancel."""
