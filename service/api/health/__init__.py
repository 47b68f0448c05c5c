"""Whether the process is up and whether it can serve."""
