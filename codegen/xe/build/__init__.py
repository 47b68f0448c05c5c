"""Writes XeTile for a problem and a configuration."""
