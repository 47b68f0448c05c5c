"""Queries, one module per table group."""
