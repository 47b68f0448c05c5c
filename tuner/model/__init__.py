"""Models that predict the time of a configuration on a device that need not be present."""
