"""Distribution rules by operation."""
