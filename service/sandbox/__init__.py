"""Sandboxed child process for untrusted input, with limited resources, no network and read-only files."""
