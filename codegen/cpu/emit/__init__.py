"""Emission of LLVM IR and object code for x86 CPUs."""
