"""The Xe GPU backend: from a GEMM or a module of kernels to SPIR-V."""
