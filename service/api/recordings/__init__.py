"""Results imported from files of other formats."""
