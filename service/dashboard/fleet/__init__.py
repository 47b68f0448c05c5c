"""The page of all devices over time."""
