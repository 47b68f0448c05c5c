"""Numbers for Prometheus."""
