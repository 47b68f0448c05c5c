"""Compilation on request, without a job: in a confined child, since anyone's text may be in it."""
