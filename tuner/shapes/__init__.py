"""Sets of shapes: sources, budget allocation, and a small cover of kernels that serve them all."""
