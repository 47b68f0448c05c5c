"""Gate of a GEMM: C = activation(A @ B1) * (A @ B2), the first half of a gated MLP.

Text form: the activation, and `:interleaved` or `:interleaved=16` if columns of B1 and B2 alternate.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from codegen.errors import InvalidProblem
from codegen.problem.epilogue import EpilogueKind, EpilogueStep

_TEXT = re.compile(r"([a-z_]+)(?:\s*:\s*interleaved(?:\s*=\s*([0-9]{1,9}))?)?", re.ASCII)
_SHOWN = 60


class Activation(StrEnum):
    """Function of the first product; as the steps of the epilogue of these names."""

    SILU = "silu"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"


@dataclass(frozen=True, slots=True)
class Gate:
    """Activation, and the arrangement of B1 and B2 in B, which has 2 N columns.

    B1 precedes B2 if `interleave` is None. Else blocks of that many columns alternate, those of B1 first: with 1,
    column 2 j of B is column j of B1, and column 2 j + 1 is column j of B2.

    Raises:
        InvalidProblem: `interleave` is not a power of two.
    """

    activation: Activation
    interleave: int | None = None

    def __post_init__(self) -> None:
        block = self.interleave
        if block is not None and (isinstance(block, bool) or block < 1 or block & (block - 1)):
            raise InvalidProblem("gate", f"expected blocks of a power of two columns, got interleave {block}")

    @property
    def step(self) -> EpilogueStep:
        """The activation as a step of an epilogue."""
        return EpilogueStep(EpilogueKind(self.activation.value))

    def __str__(self) -> str:
        if self.interleave is None:
            return self.activation.value
        return f"{self.activation.value}:interleaved" + (f"={self.interleave}" if self.interleave > 1 else "")


def parse_gate(text: str) -> Gate | None:
    """Return the gate of a text; None of an empty one.

    Raises:
        InvalidProblem: it is not of that form.
    """
    if not text.strip():
        return None
    found = _TEXT.fullmatch(text.strip())
    if found is None or found[1] not in list(Activation):
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        names = ", ".join(Activation)
        raise InvalidProblem(
            "gate", f"expected one of {names}, optionally with ':interleaved' or ':interleaved=16', got {shown!r}"
        )
    interleaved = "interleaved" in text
    return Gate(Activation(found[1]), int(found[2] or 1) if interleaved else None)
