"""Compilation on request, without a job, in a sandboxed child process, since kernels may come from anyone."""
