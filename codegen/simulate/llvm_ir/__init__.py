"""A parser of the LLVM IR of kernels."""
