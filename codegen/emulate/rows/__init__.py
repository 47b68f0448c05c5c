"""Values that differ between lanes: rows of 16, and the instructions on them."""
