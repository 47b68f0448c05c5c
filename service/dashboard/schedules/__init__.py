"""Pages of schedules and of windows of maintenance."""
