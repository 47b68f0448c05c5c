"""Lowering of vector operations to lanes."""
