"""Registers that a thread needs, and those that spill."""

import numpy as np

from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.device import Case

_MANY_SUMS = 3 / 8  # of all registers
_FEW = 96  # registers of operands that are loaded one after the other, without all being live


def operand_registers(on: Case, c: Columns) -> tuple[Column, Column]:
    """Return the registers of A and of B for one K step of a sub-group."""
    nbytes = on.problem.dtype_a.nbytes
    sg_m, sg_n = c.block_m / c.sg_rows, c.block_n * on.problem.products / c.sg_columns
    return sg_m * c.block_k * nbytes / on.register_bytes, sg_n * c.block_k * nbytes / on.register_bytes


def copied_registers(on: Case, c: Columns) -> Column:
    """Return the registers of the data that a sub-group copies to shared local memory in a K step."""
    rows = c.block_m * c.staged_a + c.block_n * on.problem.products * c.staged_b
    return rows * c.block_k * on.problem.dtype_a.nbytes / on.register_bytes / (c.sg_rows * c.sg_columns)


def needed_registers(on: Case, c: Columns) -> Column:
    """Return the maximum number of live registers of the configuration's code."""
    k, (a, b) = on.constants, operand_registers(on, c)
    sums = _sums(on, c)
    loaded = a * (1 - c.staged_a) + b * (1 - c.staged_b)
    need = sums + k.registers_reserved + k.registers_loaded * loaded
    need = (
        need + k.registers_loaded_beyond * np.maximum(0, loaded - _FEW) + k.registers_copied * copied_registers(on, c)
    )
    of_words = (k.registers_staged_words,) * 2
    of_a, of_b = (k.registers_staged_a, k.registers_staged_b) if on.has_block2d else of_words
    need = need + of_a * c.staged_a * a + of_b * c.staged_b * b
    pipelined = k.registers_pipelined + k.registers_unrolled * (c.k_unroll > 1)
    converted = k.registers_converted * b * on.problem.has_weights
    return need + c.pipelined * pipelined * (a + b) + _of_access(on, c, a, b) + converted


def _of_access(on: Case, c: Columns, a: Column, b: Column) -> Column:
    """Return the further registers that lanes need to fetch operands: an unrolled loop fetches together,
    unless staged.
    """
    k, unrolled = on.constants, c.k_unroll > 1
    fetched = a * on.lanes_a * (1 - c.staged_a) + b * on.lanes_b * (1 - c.staged_b)
    return (k.registers_lanes + k.registers_unrolled_lanes * unrolled) * fetched


def spilled_registers(on: Case, c: Columns) -> Column:
    """Return the registers that are expected to be spilled to memory.

    Where many sums and all operands of a K step exceed the registers, the compiler has to order loads and multiplies
    so that they fit. It does not always find an order: the registers that spill then, times how often they do.
    """
    k, (a, b), sums = on.constants, operand_registers(on, c), _sums(on, c)
    at_risk = k.registers_at_risk_turned if on.problem.transpose_b else k.registers_at_risk
    is_full = (sums >= _MANY_SUMS * c.grf) & (sums + a * (1 - c.staged_a) + b * (1 - c.staged_b) > c.grf)
    return np.maximum(is_full * at_risk, needed_registers(on, c) - c.grf)


def _sums(on: Case, c: Columns) -> Column:
    """Return the registers of a sub-group's sums."""
    elements = c.block_m / c.sg_rows * c.block_n / c.sg_columns * on.problem.products
    return elements * on.problem.dtype_acc.nbytes / on.register_bytes
