"""One tuning run: its budget, trials and result."""
