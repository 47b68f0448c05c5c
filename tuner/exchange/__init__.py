"""Tuning results as files: JSON lines between databases, and the formats of other autotuners."""
