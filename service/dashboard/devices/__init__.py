"""Pages of devices: the list, and one with its facts, health, clocks and queue."""
