"""The loop nest of a CPU kernel, and how its threads share the work."""
