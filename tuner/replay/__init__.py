"""Replay of recorded results: a device simulated by known times, to evaluate searches."""
