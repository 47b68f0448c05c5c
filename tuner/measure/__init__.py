"""Measurement of candidates."""
