"""Commands that show what a kernel is and why it takes its time, without running it."""
