"""Rate and concurrency limits."""
