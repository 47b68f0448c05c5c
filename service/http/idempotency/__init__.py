"""Idempotency-Key: a repeated request gets the first response, and its work is done once."""
