"""Recorded results as a device: what a search would have found in a space whose times are known."""
