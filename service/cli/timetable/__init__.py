"""Schedules as commands ask for them: of the database of this machine, or of a service."""
