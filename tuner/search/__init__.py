"""Search of configurations: Optuna samplers, and their common parts."""
