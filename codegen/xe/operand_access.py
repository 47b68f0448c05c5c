"""Memory access of operands: by 2-D block messages, by vectors of lanes, or element by element, with the reason.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from codegen.config.xe import WorkspaceOperands
from codegen.problem.gemm import (
    GATED_AXIS,
    GemmProblem,
    Operand,
)
from codegen.target import Target
from codegen.xe.prepare import is_decoded, prepared_operands

MAX_SURFACE_BYTES = 2**24  # row width and row pitch
_WIDTH_MULTIPLE_BYTES = 4
VECTOR_ALIGNMENT = 4  # bytes
PARTIALS_ROW_MULTIPLE = 16  # 4-byte elements: minimum row width and row alignment of block messages


class AccessBy(StrEnum):
    """Access method of elements."""

    BLOCK2D = "block2d"
    VECTORS = "vectors"
    LANES = "lanes"
    COPIED = "copied"  # into a workspace, which block messages load
    DECODED = "decoded"  # so, from weights


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """Access method of an operand; if it is not loaded by block messages as it is stored, also the violated rule, and
    the reason.
    """

    by: AccessBy
    rule: str | None = None
    why: str | None = None

    def __str__(self) -> str:
        return self.by.value if self.rule is None else f"{self.by.value} ({self.rule}: {self.why})"


def memory_paths(
    problem: GemmProblem, target: Target, prepared: WorkspaceOperands = WorkspaceOperands.NONE
) -> dict[str, MemoryPath]:
    """Return the access method of each operand of a problem, by name, where these are `prepared` in a workspace."""
    paths = {operand.name: memory_path(problem, operand, target) for operand in problem.operands}
    for operand in prepared_operands(problem, prepared):
        by = AccessBy.DECODED if is_decoded(problem, operand) else AccessBy.COPIED
        paths[operand.name] = replace(paths[operand.name], by=by)
    return paths


def memory_path(problem: GemmProblem, operand: Operand, target: Target) -> MemoryPath:
    """Return the access method of an operand: the widest that no rule forbids."""
    if not target.block2d:
        if (why := _vectors(problem, operand) or _column(problem, operand, target)) is not None:
            return MemoryPath(AccessBy.LANES, "vector-alignment", why)
        return MemoryPath(AccessBy.VECTORS, "block2d-device", f"{target.chip} has no 2-D block messages")
    for name, rule in _RULES.items():
        why = rule(problem, operand, target)
        if why is not None:
            return MemoryPath(AccessBy.LANES, name, why)
    return MemoryPath(AccessBy.BLOCK2D)


def partials_by_lanes(problem: GemmProblem) -> bool:
    """True if lanes access partial sums over K: their rows are padded for block messages, but may be too short."""
    return problem.n < PARTIALS_ROW_MULTIPLE


def _vectors(problem: GemmProblem, operand: Operand) -> str | None:
    """Return why lanes may not access several elements at once, which are words of memory."""
    if problem.alignment % VECTOR_ALIGNMENT:
        return f"{operand.name} is aligned to {problem.alignment} bytes; vectors need {VECTOR_ALIGNMENT}"
    if problem.dynamic and operand.dtype.nbytes < VECTOR_ALIGNMENT:
        return f"rows of {operand.name}, whose length is an argument, may end within a word"
    distances = [("rows", operand.pitch)] if operand.rows > 1 else []
    distances += [("matrices", operand.batch_stride)] if operand.matrices(problem.batch) > 1 else []
    for what, distance in distances:
        if distance * operand.dtype.nbytes % VECTOR_ALIGNMENT:
            nbytes = distance * operand.dtype.nbytes
            return f"{what} of {operand.name} are {nbytes} bytes apart; vectors need a multiple of {VECTOR_ALIGNMENT}"
    return None


def _base(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    least = target.block2d_base_alignment_bytes
    if problem.alignment < least:
        return f"{operand.name} is aligned to {problem.alignment} bytes; block messages need {least}"
    stride = operand.batch_stride * operand.dtype.nbytes
    if operand.matrices(problem.batch) > 1 and stride % least:
        return f"matrices {operand.name} are {stride} bytes apart; block messages need a multiple of {least}"
    return None


def _width(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    width = operand.columns * operand.dtype.nbytes
    if width < target.block2d_min_width_bytes:
        least = target.block2d_min_width_bytes
        return f"rows of {operand.name} are {width} bytes long; block messages need at least {least}"
    if width % _WIDTH_MULTIPLE_BYTES or width > MAX_SURFACE_BYTES:
        return (
            f"rows of {operand.name} are {width} bytes long; block messages need a multiple of "
            f"{_WIDTH_MULTIPLE_BYTES} and at most {MAX_SURFACE_BYTES}"
        )
    return None


def _pitch(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    pitch, multiple = operand.pitch * operand.dtype.nbytes, target.block2d_pitch_multiple_bytes
    step = multiple // operand.dtype.nbytes
    if not pitch % multiple and pitch <= MAX_SURFACE_BYTES:
        return None
    if operand.rows == 1:
        return (
            f"{operand.name} is one row of {pitch} bytes; block messages need a multiple of {multiple}, "
            f"{step} elements, and at most {MAX_SURFACE_BYTES}"
        )
    return (
        f"rows of {operand.name} are {pitch} bytes apart; block messages need a multiple of {multiple} and at most "
        f"{MAX_SURFACE_BYTES}: rows {-(-operand.pitch // step) * step} elements apart would do"
    )


def _column(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    """Return why blocks may not start where the columns of B's second product do."""
    gate, multiple = problem.gate, _WIDTH_MULTIPLE_BYTES
    if operand.axes[1] != GATED_AXIS or gate is None or gate.interleave is not None:
        return None
    start = problem.n * operand.dtype.nbytes
    return f"B2 begins {start} bytes after B1; it needs a multiple of {multiple}" if start % multiple else None


_RULES: dict[str, Callable[[GemmProblem, Operand, Target], str | None]] = {
    "block2d-base": _base,
    "block2d-width": _width,
    "block2d-pitch": _pitch,
    "block2d-column": _column,
}
