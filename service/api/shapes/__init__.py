"""Sets of shapes: creation, tuning under one budget, and results."""
