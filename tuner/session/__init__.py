"""A tuning run: its budget, trials and result."""
