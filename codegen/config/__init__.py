"""Kernel configurations: the tile sizes, loop order and strategy of a GEMM."""
