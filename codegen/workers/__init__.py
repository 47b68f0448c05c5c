"""Compile workers: process pool, compile cache and forks."""
