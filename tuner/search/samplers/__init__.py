"""Samplers of one Optuna study over a finite space of configurations: the only package that imports Optuna."""
