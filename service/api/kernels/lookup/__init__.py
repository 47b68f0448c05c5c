"""Lookup of the kernel for a problem: from results, nearby problems, the model, or the default configuration."""
