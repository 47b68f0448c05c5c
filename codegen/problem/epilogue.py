"""Epilogue of a GEMM: an ordered list of steps on the accumulator before it is stored, each in f32.

The accumulator becomes f32 before the first step, and C's type after the last: rounded to nearest even, and saturated
where C's type is an integer.
"""

from dataclasses import dataclass
from enum import StrEnum

from codegen.errors import InvalidProblem
from codegen.problem.dtype import DType


class EpilogueKind(StrEnum):
    """One element-wise or reducing step."""

    ALPHA = "alpha"  # value * x
    BETA = "beta"  # x + value * C
    BIAS = "bias"  # x + vector along an axis
    SCALE = "scale"  # x * value, or x * vector along an axis
    RELU = "relu"
    LEAKY_RELU = "leaky_relu"  # value: negative slope
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    SILU = "silu"
    SIGMOID = "sigmoid"
    TANH = "tanh"
    CLIP = "clip"  # to [value, high]
    ADD = "add"  # x + matrix
    MULTIPLY = "multiply"  # x * matrix
    REDUCE = "reduce"  # sums along an axis as a second output


class Axis(StrEnum):
    """Index that a vector runs along: `row` has length M, `column` length N."""

    ROW = "row"
    COLUMN = "column"


_NEEDS_VALUE = {EpilogueKind.ALPHA, EpilogueKind.BETA, EpilogueKind.LEAKY_RELU, EpilogueKind.CLIP}
_NEEDS_AXIS = {EpilogueKind.BIAS, EpilogueKind.REDUCE}
_MATRICES = {EpilogueKind.ADD, EpilogueKind.MULTIPLY}
_LINEAR = {EpilogueKind.ALPHA, EpilogueKind.SCALE}
_STORED = (DType.F32, DType.F16, DType.BF16)
_MOST = (2 - 2**-23) * 2.0**127  # the largest f32
MAX_STEPS = 16


@dataclass(frozen=True, slots=True)
class EpilogueStep:
    """One step and its constants; unused ones are None.

    `dtype` is what a vector or matrix of the step is stored as, f32 if None; `ld` is the distance of the rows of a
    matrix in elements, N if None. A vector is the same for all matrices of a batch.

    Raises:
        InvalidProblem: what the kind needs is missing, what it does not take is there, or clip's bounds are reversed.
    """

    kind: EpilogueKind
    value: float | None = None
    high: float | None = None
    axis: Axis | None = None
    dtype: DType | None = None
    ld: int | None = None

    def __post_init__(self) -> None:
        kind = self.kind.value
        for name in ("value", "high"):
            number = getattr(self, name)
            if number is not None and not abs(number) <= _MOST:  # NaN is not
                raise InvalidProblem("epilogue", f"{kind}: expected a finite {name} that f32 can hold, got {number}")
        if self.kind in _NEEDS_VALUE and self.value is None:
            raise InvalidProblem("epilogue", f"{kind} needs a value, got none")
        if self.kind in _NEEDS_AXIS and self.axis is None:
            raise InvalidProblem("epilogue", f"{kind} needs an axis: row or column")
        if self.kind is EpilogueKind.SCALE and (self.value is None) == (self.axis is None):
            raise InvalidProblem("epilogue", "scale needs a value or an axis, and not both")
        if self.kind is EpilogueKind.CLIP and (self.high is None or self.value is None or self.high < self.value):
            raise InvalidProblem("epilogue", f"clip needs value <= high, got {self.value} and {self.high}")
        self._check_unused()
        if self.dtype not in (None, *_STORED) or (self.kind is EpilogueKind.REDUCE and self.dtype in _STORED[1:]):
            stored = "f32" if self.kind is EpilogueKind.REDUCE else ", ".join(_STORED)
            raise InvalidProblem("epilogue", f"{kind}: expected dtype {stored}, got {self.dtype}")
        if self.ld is not None and (isinstance(self.ld, bool) or self.ld < 1):
            raise InvalidProblem("epilogue", f"{kind}: expected ld of at least 1, got {self.ld}")

    @property
    def is_matrix(self) -> bool:
        """Return whether the step reads a matrix."""
        return self.kind in _MATRICES

    @property
    def is_linear(self) -> bool:
        """Return whether the step is linear: applied to a sum, it is the sum of the steps of its parts."""
        return self.kind in _LINEAR

    def _check_unused(self) -> None:
        takes_value = self.kind in _NEEDS_VALUE | {EpilogueKind.SCALE}
        unused = [
            name
            for name, taken in (
                ("value", takes_value),
                ("high", self.kind is EpilogueKind.CLIP),
                ("axis", self.kind in _NEEDS_AXIS | {EpilogueKind.SCALE}),
                ("dtype", self.is_matrix or self.axis is not None),
                ("ld", self.is_matrix),
            )
            if not taken and getattr(self, name) is not None
        ]
        if unused:
            raise InvalidProblem("epilogue", f"{self.kind.value} takes no {' and no '.join(unused)}")
