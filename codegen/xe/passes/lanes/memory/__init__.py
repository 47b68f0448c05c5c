"""Lowering of memory operations to lanes."""
