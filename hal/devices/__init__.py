"""Devices of this machine and of the table: listing, matching and opening by name."""
