"""HTTP layer of every request: guards, limits, errors."""
