"""Probes of the installed drivers."""
