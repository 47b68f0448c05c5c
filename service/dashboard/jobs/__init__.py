"""Pages of jobs: the list, one job with its trials, one trial."""
