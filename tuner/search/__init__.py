"""The search of configurations: Optuna samplers, and what they share."""
