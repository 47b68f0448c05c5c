"""Where commands work: with the database of this machine, or with a service."""
