"""Registers that a thread needs, and those that it does not have."""

import numpy as np

from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.device import Case


def operand_registers(on: Case, c: Columns) -> tuple[Column, Column]:
    """Registers of A and of B for one K step of a sub-group."""
    nbytes = on.problem.dtype_a.nbytes
    sg_m, sg_n = c.block_m / c.sg_rows, c.block_n / c.sg_columns
    return sg_m * c.block_k * nbytes / on.register_bytes, sg_n * c.block_k * nbytes / on.register_bytes


def copied_registers(on: Case, c: Columns) -> Column:
    """Registers of what one sub-group copies to shared local memory in a K step."""
    rows = c.block_m * c.staged_a + c.block_n * c.staged_b
    return rows * c.block_k * on.problem.dtype_a.nbytes / on.register_bytes / (c.sg_rows * c.sg_columns)


def needed_registers(on: Case, c: Columns) -> Column:
    """Registers that code of the configuration needs at the place where it needs most."""
    k, (a, b) = on.constants, operand_registers(on, c)
    sums = c.block_m / c.sg_rows * c.block_n / c.sg_columns * on.problem.dtype_acc.nbytes / on.register_bytes
    loaded = a * (1 - c.staged_a) + b * (1 - c.staged_b)
    need = sums + k.registers_reserved + k.registers_loaded * loaded + k.registers_copied * copied_registers(on, c)
    need = need + k.registers_staged_a * c.staged_a * a + k.registers_staged_b * c.staged_b * b
    need = need + k.registers_lanes * (a * on.lanes_a + b * on.lanes_b)
    pipelined = k.registers_pipelined + k.registers_unrolled * (c.k_unroll > 1)
    return need + c.pipelined * pipelined * (a + b)


def spilled_registers(on: Case, c: Columns) -> Column:
    """Registers that are kept in memory."""
    return np.maximum(0, needed_registers(on, c) - c.grf)
