"""What happens to the accumulator before it is stored: an ordered list of steps."""

from dataclasses import dataclass
from enum import StrEnum

from codegen.errors import InvalidProblem


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
    """Which index a vector runs along: `row` has length M, `column` length N."""

    ROW = "row"
    COLUMN = "column"


_NEEDS_VALUE = {EpilogueKind.ALPHA, EpilogueKind.BETA, EpilogueKind.LEAKY_RELU, EpilogueKind.CLIP}
_NEEDS_AXIS = {EpilogueKind.BIAS, EpilogueKind.REDUCE}


@dataclass(frozen=True, slots=True)
class EpilogueStep:
    """One step and its constants; unused ones are None.

    Raises:
        InvalidProblem: a constant or axis that the kind needs is missing, or clip's bounds are reversed.
    """

    kind: EpilogueKind
    value: float | None = None
    high: float | None = None
    axis: Axis | None = None

    def __post_init__(self) -> None:
        if self.kind in _NEEDS_VALUE and self.value is None:
            raise InvalidProblem("epilogue", f"{self.kind.value} needs a value, got none")
        if self.kind in _NEEDS_AXIS and self.axis is None:
            raise InvalidProblem("epilogue", f"{self.kind.value} needs an axis: row or column")
        if self.kind is EpilogueKind.SCALE and (self.value is None) == (self.axis is None):
            raise InvalidProblem("epilogue", "scale needs a value or an axis, and not both")
        reversed_bounds = self.high is None or self.value is None or self.high < self.value
        if self.kind is EpilogueKind.CLIP and reversed_bounds:
            raise InvalidProblem("epilogue", f"clip needs value <= high, got {self.value} and {self.high}")
