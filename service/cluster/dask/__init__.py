"""Execution on many machines through a Dask scheduler; the only package that imports `distributed`."""
