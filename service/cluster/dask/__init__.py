"""Many machines through a Dask scheduler; the one door to `distributed`."""
