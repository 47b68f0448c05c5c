"""Executes XeTile and XeGPU modules in numpy, at work-group or sub-group level: the oracle of every lowering."""

from tests.oracle import (
    arith,
    gpu,
    index,
    linalg,
    math,
    memref,
    scf,
    vector,
    vector_memory,
    xegpu_barrier,
    xegpu_block,
    xegpu_dpas,
    xegpu_matrix,
    xegpu_scatter,
    xetile,
)
from tests.oracle.launch import interpret
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)

RULES = (
    arith,
    gpu,
    index,
    linalg,
    math,
    memref,
    scf,
    vector,
    vector_memory,
    xegpu_barrier,
    xegpu_block,
    xegpu_dpas,
    xegpu_matrix,
    xegpu_scatter,
    xetile,
)
"""The modules of the operations' meanings, one a dialect or a part of one."""

__all__ = ["RULES", "InterpretationRefused", "KernelFault", "interpret"]
