"""Job execution: workers, tuning runs and their records."""
