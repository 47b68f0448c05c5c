"""Compilation of any module with kernels: from XeTile or XeGPU text to SPIR-V."""

from codegen.xe.modules.compile import compile_module

__all__ = ["compile_module"]
