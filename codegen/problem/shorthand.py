"""Shorthands of layouts, and of usual quantisations: `w4a16:128` for types, scales and zero points of a problem.

| shorthand  | B    | scales                                       |
|------------|------|----------------------------------------------|
| `w4a16`    | u4   | groups of 128, zero 8                        |
| `w8a16`    | s8   | a column, as the first step of the epilogue  |
| `fp8`      | e4m3 | a column, as the first step of the epilogue  |
| `fp8_e5m2` | e5m2 | a column, as the first step of the epilogue  |
| `mxfp4`    | e2m1 | groups of 32, e8m0                           |
| `w8a8`     | s8   | of A's rows and B's columns, two first steps |

Without a group, scales of a gated problem are multiplied into B, as `column` asks: the activation follows its sums.

All but the last two take `:GROUP` (or `column`: multiplied into B), `:TYPE` of the scales, which are of A's type unless
said, and `:zero=N` or `:zeros`, as in `parse_quantization`. A of `w8a8` is s8, its C bf16 unless said.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from codegen.errors import InvalidProblem
from codegen.problem.dtype import DType
from codegen.problem.epilogue import Axis, EpilogueKind, EpilogueStep
from codegen.problem.gate import Gate
from codegen.problem.quantization import Quantization, parse_quantization

LAYOUTS = {"nn": (False, False), "nt": (False, True), "tn": (True, False), "tt": (True, True)}
"""Shorthands of layouts: whether A and B are stored transposed."""
NONE = "none"
"""The shorthand of a B that is not quantised and of A's type, where a default says otherwise."""
_W8A8 = "w8a8"
_STARTS_WITH_GROUP = re.compile(r"(?:[0-9]+|column)(?::|$)")
_ACTIVATIONS = (DType.F16, DType.BF16)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Usual:
    """B's type, and what is meant where a shorthand says nothing more; `parts`: it may say more."""

    dtype_b: DType
    group: int | None = None
    scale: DType | None = None
    zero: int = 0
    parts: bool = True


_USUAL = {
    "w4a16": _Usual(DType.U4, 128, zero=8),
    "w8a16": _Usual(DType.S8),
    "fp8": _Usual(DType.E4M3),
    "fp8_e5m2": _Usual(DType.E5M2),
    "mxfp4": _Usual(DType.E2M1, 32, DType.E8M0, parts=False),
    _W8A8: _Usual(DType.S8, parts=False),
}
SHORTHANDS = tuple(_USUAL)
"""Names of the shorthands."""


class Types(NamedTuple):
    """The fields of a problem that a quantisation determines."""

    dtype_a: DType
    dtype_b: DType
    dtype_c: DType | None
    epilogue: tuple[EpilogueStep, ...]
    quantization: Quantization | None


class Asked(NamedTuple):
    """Types asked for: `quant` is a shorthand, `quantization` its explicit form; "" and None where nothing was said.

    `dtype` is the type of A and B that say nothing else.
    """

    quant: str = ""
    quantization: str = ""
    dtype: DType = DType.F16
    dtype_a: DType | None = None
    dtype_b: DType | None = None
    dtype_c: DType | None = None
    epilogue: tuple[EpilogueStep, ...] = ()
    gate: Gate | None = None


def types_of(asked: Asked) -> Types:
    """Return the fields of the problem that is asked for.

    Raises:
        InvalidProblem: a shorthand that there is not, or that contradicts what else is asked for.
    """
    dtype_a = asked.dtype_a or asked.dtype
    if not asked.quant.strip():
        found = parse_quantization(asked.quantization, dtype_a) if asked.quantization.strip() else None
        return Types(dtype_a, asked.dtype_b or asked.dtype, asked.dtype_c, asked.epilogue, found)
    also = {"dtype_b": asked.dtype_b, "quantization": asked.quantization.strip()}
    if both := [name for name, value in also.items() if value]:
        raise _invalid(f"expected no {both[0]} beside it, got {also[both[0]]}")
    if asked.quant.strip() == NONE:
        return Types(dtype_a, dtype_a, asked.dtype_c, asked.epilogue, None)
    name, _, parts = asked.quant.replace(" ", "").partition(":")
    usual = _USUAL.get(name)
    if usual is None or (parts and not usual.parts):
        known = ", ".join(f"{each}{'[:GROUP]' * usual.parts}" for each, usual in _USUAL.items())
        raise _invalid(f"expected one of {known}, or {NONE}; got {asked.quant[:_SHOWN]!r}")
    if name == _W8A8:
        return _of_bytes(asked, dtype_a)
    if dtype_a not in _ACTIVATIONS:
        raise _invalid(f"{name}: expected A of {', '.join(_ACTIVATIONS)}, got {dtype_a.value}")
    quantization, says_group = _parsed(name, usual, parts, dtype_a)
    by_step = usual.group is None and not says_group and not quantization.zero and not quantization.zeros
    if not by_step or asked.gate is not None:
        return Types(dtype_a, usual.dtype_b, asked.dtype_c, asked.epilogue, quantization)
    if quantization.scale is DType.E8M0:
        raise _invalid(f"{name}: expected scales of f16, bf16 or f32 where they are a step, got e8m0: say a group")
    stored = None if quantization.scale is DType.F32 else quantization.scale  # f32 is what a step says by nothing
    step = EpilogueStep(EpilogueKind.SCALE, axis=Axis.COLUMN, dtype=stored)
    return Types(dtype_a, usual.dtype_b, asked.dtype_c, (step, *asked.epilogue), None)


def _parsed(name: str, usual: _Usual, parts: str, dtype_a: DType) -> tuple[Quantization, bool]:
    """Return the quantisation, and whether a group was said."""
    says_group = _STARTS_WITH_GROUP.match(parts) is not None
    group = "column" if usual.group is None else str(usual.group)
    text = parts if says_group else f"{group}:{parts}".removesuffix(":")
    if usual.zero and "zero" not in parts:
        text += f":zero={usual.zero}"
    try:
        return parse_quantization(text, usual.scale or dtype_a), says_group
    except InvalidProblem as error:
        raise _invalid(f"{name}:{parts}, which is {text}: {error.message}") from error


def _of_bytes(asked: Asked, dtype_a: DType) -> Types:
    if dtype_a not in (*_ACTIVATIONS, DType.S8):
        raise _invalid(
            f"{_W8A8}: expected A of s8, or of what becomes s8, {', '.join(_ACTIVATIONS)}; got {dtype_a.value}"
        )
    if asked.gate is not None:
        raise _invalid(
            f"{_W8A8}: expected no gate, whose sums are not scaled before the activation; compute two products"
        )
    scales = tuple(EpilogueStep(EpilogueKind.SCALE, axis=axis) for axis in (Axis.ROW, Axis.COLUMN))
    return Types(DType.S8, DType.S8, asked.dtype_c or DType.BF16, (*scales, *asked.epilogue), None)


def _invalid(message: str) -> InvalidProblem:
    return InvalidProblem("quant", message)
