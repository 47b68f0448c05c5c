"""The best kernels and their files over REST."""
