"""Semantics of LLVM IR instructions on arrays."""
