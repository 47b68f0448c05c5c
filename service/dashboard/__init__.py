"""Web pages: tuned problems, jobs and their kernels."""
