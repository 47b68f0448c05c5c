"""Compilation and execution of kernels on this machine or on many, and the coordinator that assigns jobs."""
