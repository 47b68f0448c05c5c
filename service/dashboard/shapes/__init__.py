"""Pages of sets of shapes."""
