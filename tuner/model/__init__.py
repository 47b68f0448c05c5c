"""Predicts how long a configuration takes on a device that is not here."""
