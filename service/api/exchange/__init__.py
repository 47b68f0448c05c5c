"""Exports what is stored, imports what others found, and gives jobs configurations to measure."""
