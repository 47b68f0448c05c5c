"""X-ray of GPU code that others compiled, in a sandboxed child process, beside our kernels for the same problem."""
