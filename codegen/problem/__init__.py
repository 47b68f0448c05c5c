"""GEMM problems: shape, element types, memory layout and epilogue."""
