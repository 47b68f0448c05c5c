"""API contract, and the files that are generated from it."""
