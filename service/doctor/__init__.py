"""Readiness of this machine: findings about its hardware, software, storage and kernels."""
