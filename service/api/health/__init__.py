"""Liveness and readiness of the service."""
