"""Copies of A and B whose rows block messages can load: names, sizes and work-groups.

A copy has the rows of the stored operand, padded with zeros to a multiple of `PAD_BYTES`. Zeros along K add nothing to
a product, and along M and N they are rows and columns beyond C.
"""

from codegen.config.xe import PaddedOperands, XeConfig
from codegen.problem.gemm import GemmProblem, Operand

PAD = "pad_"
"""Prefix of the names of the kernels that copy."""
PAD_BYTES = 64
"""Row length of the part that one work-group copies, and its multiple in a copy: a register, and a cache line."""
PAD_ROWS = 32
"""Rows that one work-group, which is one sub-group, copies."""

_PADDED = {
    PaddedOperands.NONE: (),
    PaddedOperands.A: ("A",),
    PaddedOperands.B: ("B",),
    PaddedOperands.BOTH: ("A", "B"),
}


def padded_operands(problem: GemmProblem, config: XeConfig) -> tuple[Operand, ...]:
    """Return the operands that are copied."""
    return tuple(o for o in problem.operands if o.name in _PADDED[config.strategy.pad_workspace])


def pad_kernel(operand: Operand) -> str:
    """Return the name of the kernel that copies an operand."""
    return f"{PAD}{operand.name.lower()}"


def copy_name(operand: Operand) -> str:
    """Return the name of the buffer of a copy."""
    return f"padded_{operand.name.lower()}"


def padded_pitch(operand: Operand) -> int:
    """Return the row pitch of a copy, in elements."""
    unit = PAD_BYTES // operand.dtype.nbytes
    return -(-operand.columns // unit) * unit


def matrices_of(problem: GemmProblem, operand: Operand) -> int:
    """Return the number of matrices of an operand."""
    return problem.batch if operand.batch_stride else 1


def pad_groups(problem: GemmProblem, operand: Operand) -> tuple[int, int, int]:
    """Return the work-groups that copy an operand: along its rows, over rows, and matrices."""
    across = padded_pitch(operand) * operand.dtype.nbytes // PAD_BYTES
    return across, -(-operand.rows // PAD_ROWS), matrices_of(problem, operand)
