"""Complete programs that run a stored kernel: they check its numbers and tell its time."""
