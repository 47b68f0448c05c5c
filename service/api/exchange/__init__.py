"""Export of stored results, import of other results, and jobs that measure given configurations."""
