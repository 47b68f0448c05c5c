"""Intel's GPU driver in its simulation mode: it accepts programs and launches without a GPU, and executes nothing."""
