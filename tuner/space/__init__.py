"""Search spaces of configurations and their defaults."""
