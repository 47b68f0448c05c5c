"""Searches the legal configurations of a problem on a device."""
