"""Best kernels and their files, over REST."""
