"""Memory access of operands: by 2-D block messages, or by each lane element by element, with the reason.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from codegen.problem.gemm import (
    GemmProblem,
    Operand,
)
from codegen.target import Target

MAX_SURFACE_BYTES = 2**24  # row width and row pitch
_WIDTH_MULTIPLE_BYTES = 4
PARTIALS_ROW_MULTIPLE = 16  # 4-byte elements: minimum row width and row alignment of block messages


class AccessBy(StrEnum):
    """Access method of elements."""

    BLOCK2D = "block2d"
    LANES = "lanes"


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """Access method of an operand; for lanes also the violated rule of block messages, and the reason."""

    by: AccessBy
    rule: str | None = None
    why: str | None = None

    def __str__(self) -> str:
        return self.by.value if self.rule is None else f"{self.by.value} ({self.rule}: {self.why})"


def memory_paths(problem: GemmProblem, target: Target) -> dict[str, MemoryPath]:
    """Return the access method of each operand of a problem, by name."""
    return {operand.name: memory_path(problem, operand, target) for operand in problem.operands}


def memory_path(problem: GemmProblem, operand: Operand, target: Target) -> MemoryPath:
    """Return the access method of an operand: block messages unless one of their rules forbids it."""
    for name, rule in _RULES.items():
        why = rule(problem, operand, target)
        if why is not None:
            return MemoryPath(AccessBy.LANES, name, why)
    return MemoryPath(AccessBy.BLOCK2D)


def partials_by_lanes(problem: GemmProblem) -> bool:
    """True if lanes access partial sums over K: their rows are padded for block messages, but may be too short."""
    return problem.n < PARTIALS_ROW_MULTIPLE


def _base(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    least = target.block2d_base_alignment_bytes
    if problem.alignment < least:
        return f"{operand.name} is aligned to {problem.alignment} bytes; block messages need {least}"
    stride = operand.batch_stride * operand.dtype.nbytes
    if problem.batch > 1 and stride % least:
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


def _device(problem: GemmProblem, operand: Operand, target: Target) -> str | None:
    return None if target.block2d else f"{target.chip} has no 2-D block messages"


_RULES: dict[str, Callable[[GemmProblem, Operand, Target], str | None]] = {
    "block2d-device": _device,
    "block2d-base": _base,
    "block2d-width": _width,
    "block2d-pitch": _pitch,
}
