"""How far predictions for a device were off, by what was measured on it."""
