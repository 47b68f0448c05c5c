"""Operands that other kernels write to a workspace before `gemm` multiplies them: names, sizes and work-groups.

An operand is copied as it is stored, or decoded if it is weights: to A's type, [K, N] whatever B's layout. Rows are
padded to a multiple of `LINE_BYTES`, those of copies with zeros. Zeros along K add nothing to a product, and what is
added along M and N are rows and columns beyond C.
"""

from dataclasses import replace
from functools import lru_cache
from math import gcd

from codegen.config.xe import WorkspaceOperands
from codegen.problem.gemm import GATED_AXIS, GemmProblem, Operand

LINE_BYTES = 64
"""Multiple of the length of rows in a workspace: a cache line, and a register."""
_ROWS = 32
_KEPT = 64  # problems: those of the spaces in use


def prepared_operands(problem: GemmProblem, which: WorkspaceOperands) -> tuple[Operand, ...]:
    """Return the operands that are prepared, as they are stored."""
    a, b, *_ = problem.operands
    return (*([a] if which.has_a else []), *([b] if which.has_b else []))


def is_decoded(problem: GemmProblem, operand: Operand) -> bool:
    """Return whether an operand is decoded when it is prepared, not copied as it is."""
    return operand.name == "B" and problem.has_weights


def in_workspace(problem: GemmProblem, operand: Operand) -> Operand:
    """Return a prepared operand as the workspace holds it; the padding of rows belongs to them."""
    if is_decoded(problem, operand):
        (decoded,) = (o for o in _decoded(problem).operands if o.name == operand.name)
        operand = replace(decoded, name="decoded_b")
    else:
        operand = replace(operand, name=f"padded_{operand.name.lower()}")
    unit = LINE_BYTES // operand.dtype.nbytes
    pitch = -(-operand.columns // unit) * unit
    stride = operand.rows * pitch if operand.batch_stride else 0
    return replace(operand, columns=pitch, pitch=pitch, batch_stride=stride)


def prepare_kernel(problem: GemmProblem, operand: Operand) -> str:
    """Return the name of the kernel that prepares an operand."""
    return f"{'decode' if is_decoded(problem, operand) else 'pad'}_{operand.name.lower()}"


def prepare_block(problem: GemmProblem, operand: Operand) -> tuple[int, int]:
    """Return rows and columns of the workspace that one work-group, which is one sub-group, writes: whole cache lines,
    also of what it reads by rows; of weights in one group of scales.
    """
    columns = LINE_BYTES // in_workspace(problem, operand).dtype.nbytes
    if not is_decoded(problem, operand):
        return _ROWS, columns
    rows, quantization = _ROWS, problem.quantization
    if operand.dtype.nbytes == 1 and not problem.transpose_b:
        rows, columns = rows * columns // LINE_BYTES, LINE_BYTES
    if quantization is not None and quantization.group is not None:
        rows = gcd(rows, quantization.group)
    return rows, columns


def prepare_groups(problem: GemmProblem, operand: Operand) -> tuple[int, int, int]:
    """Return the work-groups that prepare an operand: along the workspace's rows, over rows, and matrices."""
    made, (rows, columns) = in_workspace(problem, operand), prepare_block(problem, operand)
    return -(-made.columns // columns), -(-made.rows // rows), operand.matrices(problem.batch)


def multiplied(problem: GemmProblem, which: WorkspaceOperands) -> GemmProblem:
    """Return the problem that `gemm` solves: without weights if they are decoded. Distances of rows of what is prepared
    are those of the workspace.
    """
    return problem if which is WorkspaceOperands.NONE else _multiplied(problem, which)


@lru_cache(_KEPT)
def _multiplied(problem: GemmProblem, which: WorkspaceOperands) -> GemmProblem:
    operands = prepared_operands(problem, which)
    found = _decoded(problem) if any(is_decoded(problem, o) for o in operands) else problem
    pitches = {f"ld{o.name.lower()}": in_workspace(problem, o).pitch for o in operands}
    strides = {f"batch_stride_{o.name.lower()}": in_workspace(problem, o).batch_stride for o in operands}
    return replace(found, **pitches, **strides)


def _decoded(problem: GemmProblem) -> GemmProblem:
    """Return a problem whose B is that of A's type which its weights stand for, [K, N]."""
    stride = 0 if problem.batch_stride_b == 0 else None
    return replace(
        problem, dtype_b=problem.dtype_a, quantization=None, transpose_b=False, ldb=None, batch_stride_b=stride
    )


def prepared_lines(problem: GemmProblem, operand: Operand, first: int, end: int) -> list[range]:
    """Return the ranges of rows of A, or of columns of B, that the rows or columns `first` to `end` of C multiply."""
    along = in_workspace(problem, operand).axes
    if GATED_AXIS not in along:
        return [range(first, end)]
    block, n = problem.gate.interleave if problem.gate is not None else None, problem.n
    if block is None:
        return [range(first, end), range(n + first, n + end)]
    return [range(first // block * 2 * block, -(-end // block) * 2 * block)]
