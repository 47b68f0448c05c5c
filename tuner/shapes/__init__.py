"""Sets of shapes: where they come from, which of them gets the next trials, and how few kernels serve them all."""
