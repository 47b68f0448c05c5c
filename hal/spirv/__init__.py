"""SPIR-V modules: their instructions, and what they need of a driver."""
