"""Weights of a problem in programs: the values of their codes, and functions that convert those of checkpoints."""

import inspect
from dataclasses import dataclass

from codegen import DType, GemmProblem

_FORMATS = {DType.E4M3: (4, 3), DType.E5M2: (5, 2), DType.E2M1: (2, 1)}  # bits of exponent and of fraction
_CONVERTERS = ("Weights", "from_gptq", "from_awq", "unpacked", "packed", "operands")
_FLOAT_SCALES = (DType.F16, DType.BF16, DType.F32)


@dataclass(frozen=True, slots=True)
class HostWeights:
    """B as stored and as it is multiplied. `exponents` and `fractions` are bits of a float format, 0 of integers.

    `group` is K for scales of whole columns. `center` is the code about which codes of 8 bits and their zero points are
    drawn. `converters` is the source of the functions that convert checkpoints, empty where they do not apply.
    """

    bits: int
    signed: bool
    exponents: int
    fractions: int
    group: str
    zero: int
    scaled: bool
    zeros: bool
    powers: bool
    center: int
    converts: bool
    multiplied: DType

    @property
    def converters(self) -> str:
        """Functions in Python that convert weights of checkpoints."""
        # Imported here: it brings numpy, and most programs have no such weights.
        from codegen import checkpoints

        sources = (inspect.getsource(getattr(checkpoints, name)) for name in _CONVERTERS)
        return f"AWQ_ORDER = {checkpoints.AWQ_ORDER}\n\n\n" + "\n\n".join(sources)


def weights_of(p: GemmProblem) -> HostWeights | None:
    """Return the facts of the weights of a problem; None if B is multiplied as it is stored."""
    if not p.has_weights:
        return None
    exponents, fractions = _FORMATS.get(p.dtype_b, (0, 0))
    q = p.quantization
    zero, zeros = (0, False) if q is None else (q.zero, q.zeros)
    return HostWeights(
        bits=p.dtype_b.bits,
        signed=p.dtype_b in (DType.S4, DType.S8),
        exponents=exponents,
        fractions=fractions,
        group="k" if q is None or q.group is None else str(q.group),
        zero=zero,
        scaled=q is not None,
        zeros=zeros,
        powers=q is not None and q.scale is DType.E8M0,
        center=1 << (p.dtype_b.bits - 1) if zeros else zero,
        converts=p.dtype_b is DType.U4 and q is not None and q.scale in _FLOAT_SCALES,
        multiplied=p.dtype_a,
    )
