"""Sets of shapes: made, run under one budget, shown."""
