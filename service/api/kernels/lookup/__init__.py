"""The kernel to run for a problem: from results, from those of problems nearby, from the model or the default."""
