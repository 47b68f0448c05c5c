"""Scales and zero points of a quantised B: b[k, n] stands for (b[k, n] - zero) * scale, rounded to A's type."""

import re
from dataclasses import dataclass

from codegen.errors import InvalidProblem
from codegen.problem.dtype import WEIGHTS, DType

GROUP_MULTIPLE = 16
_SCALES = (DType.F16, DType.BF16, DType.F32, DType.E8M0)
_MULTIPLIED = (DType.F16, DType.BF16)
_HAVE_ZEROS = (DType.U4, DType.U8)
_MOST_ZERO = 255
_ZEROS = {DType.U4: (0, 15), DType.S4: (-8, 7), DType.U8: (0, 255), DType.S8: (-128, 127)}
_TEXT = re.compile(
    r"(?P<group>[0-9]{1,8}|column)(?::(?P<scale>(?!zeros$)[a-z0-9]+))?(?::zero=(?P<zero>-?[0-9]{1,3})|:(?P<zeros>zeros))?"
)


@dataclass(frozen=True, slots=True)
class Quantization:
    """Scales of B: one for each column and each `group` elements of K, or for each whole column if None.

    They are stored [ceil(K / group), N] as `scale`: at most 2^100, as kernels compute with multiples of
    them in f32. `zero`, a number that B's type holds, is subtracted from every element; with `zeros`, a zero point
    for each scale is stored beside them in B's type: words of eight along the groups [ceil(groups / 8), N] of u4, or
    bytes [groups, N] of u8.

    Raises:
        InvalidProblem: a field that no kernel supports, or two that contradict each other.
    """

    group: int | None = None
    scale: DType = DType.F16
    zero: int = 0
    zeros: bool = False

    def __post_init__(self) -> None:
        group = self.group
        if group is not None and (isinstance(group, bool) or group < GROUP_MULTIPLE or group % GROUP_MULTIPLE):
            raise InvalidProblem(
                "quantization",
                f"expected groups of a multiple of {GROUP_MULTIPLE}, got {group}: the elements along K that share a "
                "scale; column is one scale for each column",
            )
        if self.scale not in _SCALES:
            raise InvalidProblem(
                "quantization", f"expected scales of {', '.join(s.value for s in _SCALES)}, got {self.scale.value}"
            )
        if isinstance(self.zero, bool) or abs(self.zero) > _MOST_ZERO:
            raise InvalidProblem("quantization", f"expected a zero of at most {_MOST_ZERO}, got {self.zero}")
        if self.zeros and self.zero:
            raise InvalidProblem("quantization", f"expected stored zero points or one number, got both: {self.zero}")

    def check(self, dtype_a: DType, dtype_b: DType) -> None:
        """Check the types of the matrices that are multiplied.

        Raises:
            InvalidProblem: B is not converted to A's type, or its type has no such zero point.
        """
        if dtype_a not in _MULTIPLIED or dtype_b not in WEIGHTS:
            of_a, of_b = (", ".join(types) for types in (_MULTIPLIED, WEIGHTS))
            got = f"{dtype_a.value} and {dtype_b.value}"
            raise InvalidProblem("quantization", f"expected A of {of_a} and B of {of_b}, got {got}")
        if self.zeros and dtype_b not in _HAVE_ZEROS:
            expected = f"B of {', '.join(_HAVE_ZEROS)} with stored zero points"
            raise InvalidProblem("quantization", f"expected {expected}, got {dtype_b.value}")
        if self.zero and not dtype_b.is_integer:
            raise InvalidProblem("quantization", f"expected no zero point of {dtype_b.value}, a float, got {self.zero}")
        least, most = _ZEROS.get(dtype_b, (0, 0))
        if not least <= self.zero <= most:
            raise InvalidProblem(
                "quantization", f"expected a zero point from {least} to {most}, as {dtype_b.value} is, got {self.zero}"
            )

    def groups(self, k: int) -> int:
        """Groups along a K."""
        return 1 if self.group is None else -(-k // self.group)

    def __str__(self) -> str:
        """Return the text form: `128:f16:zero=8`, `32:e8m0`, `column:bf16:zeros`."""
        zero = ":zeros" if self.zeros else f":zero={self.zero}" if self.zero else ""
        return f"{'column' if self.group is None else self.group}:{self.scale.value}{zero}"


def parse_quantization(text: str, scale: DType = DType.F16) -> Quantization:
    """Return the quantization of a text form; `scale` is the type of scales unless it says another.

    Raises:
        InvalidProblem: what is expected, and what came.
    """
    found = _TEXT.fullmatch(text.replace(" ", ""))
    if found is None or (found["scale"] or scale.value) not in [known.value for known in _SCALES]:
        raise InvalidProblem(
            "quantization",
            "expected a group and, where needed, the type of scales and a zero point, as in 128, 128:bf16, "
            f"128:f16:zero=8, 64:f16:zeros, column or 32:e8m0; got {text[:60]!r}",
        )
    group = None if found["group"] == "column" else int(found["group"])
    return Quantization(group, DType(found["scale"] or scale), int(found["zero"] or 0), found["zeros"] is not None)
