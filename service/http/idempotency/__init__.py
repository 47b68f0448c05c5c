"""Idempotency-Key: a request that is sent again is answered again, and does its work once."""
