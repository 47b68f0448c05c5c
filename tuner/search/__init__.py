"""Proposers: what to try next."""
