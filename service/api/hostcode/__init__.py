"""Complete programs that run a stored kernel, verify its results and print its time."""
