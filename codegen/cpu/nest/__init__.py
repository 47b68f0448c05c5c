"""Loop nest of a CPU kernel and its distribution over threads."""
