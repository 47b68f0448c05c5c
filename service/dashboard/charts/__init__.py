"""Charts: documents of numbers that a page draws, shows as a table and saves."""
