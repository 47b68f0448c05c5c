"""Records: tuned results of other tuners, for kernels that are not ours."""
