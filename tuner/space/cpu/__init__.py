"""The space and the default of the deep-tiled matmul on CPUs."""
