"""Text form of epilogues in one line: `alpha=0.5, bias:column, gelu, add:f16, reduce:row`.

Steps are separated by commas, in order. A step is its kind, `=` and its constant where it takes one (`clip=-1..6`
takes two), and `:` before each of what else it needs: the axis of a vector, the type that a vector or matrix is stored
as, and `ld=512`, the distance of a matrix's rows.
"""

import re
from collections.abc import Mapping

from codegen.errors import InvalidProblem
from codegen.problem.dtype import DType
from codegen.problem.epilogue import (
    MAX_STEPS,
    Axis,
    EpilogueKind,
    EpilogueStep,
)

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|nan)", re.IGNORECASE | re.ASCII)
_SHOWN = 60


def parse_epilogue(text: str) -> tuple[EpilogueStep, ...]:
    """Return the steps of a text; none of an empty one.

    Raises:
        InvalidProblem: names the step at fault, counted from 1, and what is expected.
    """
    if not text.strip():
        return ()
    steps = text.split(",")
    if len(steps) > MAX_STEPS:
        raise InvalidProblem("epilogue", f"expected at most {MAX_STEPS} steps, got {len(steps)}")
    return tuple(_numbered(place, step.strip()) for place, step in enumerate(steps, start=1))


def print_epilogue(steps: tuple[EpilogueStep, ...]) -> str:
    """Return the text of those steps; parsing it returns them."""
    return ", ".join(print_step(step) for step in steps)


def print_step(step: EpilogueStep) -> str:
    """Return the text of one step."""
    constant = "" if step.value is None else f"={_printed(step.value)}"
    if step.high is not None:
        constant += f"..{_printed(step.high)}"
    words = [word.value for word in (step.axis, step.dtype) if word is not None]
    if step.ld is not None:
        words.append(f"ld={step.ld}")
    return ":".join([f"{step.kind.value}{constant}", *words])


def _numbered(place: int, text: str) -> EpilogueStep:
    try:
        return _step(text)
    except InvalidProblem as error:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise InvalidProblem("epilogue", f"step {place}, {shown!r}: {error.message}") from error


def _step(text: str) -> EpilogueStep:
    head, *words = (word.strip() for word in text.split(":"))
    name, equals, constant = (part.strip() for part in head.partition("="))
    kinds = {kind.value: kind for kind in EpilogueKind}
    if name not in kinds:
        raise _expected(f"one of {', '.join(kinds)}")
    value = high = None
    if equals and kinds[name] is EpilogueKind.CLIP:
        low, between, top = constant.partition("..")
        if not between:
            raise _expected("two constants, as in clip=-1..6")
        value, high = _number(low), _number(top)
    elif equals:
        value = _number(constant)
    said = _words(words)
    axis, dtype, ld = said.get("axis"), said.get("dtype"), said.get("ld")
    return EpilogueStep(
        kinds[name],
        value,
        high,
        None if axis is None else Axis(axis),
        None if dtype is None else DType(dtype),
        None if ld is None else int(ld),
    )


def _words(words: list[str]) -> Mapping[str, str]:
    """Return the words after the first, by field."""
    said: dict[str, str] = {}
    for word in words:
        if word in list(Axis):
            field, value = "axis", word
        elif word in list(DType):
            field, value = "dtype", word
        elif (distance := re.fullmatch(r"ld\s*=\s*([0-9]{1,18})", word, re.ASCII)) is not None:
            field, value = "ld", distance[1]
        else:
            raise _expected(f"row, column, a type (f32, f16, bf16) or ld=NUMBER after ':', got {word!r}")
        if field in said:
            raise _expected(f"one {field}, got {said[field]} and {value}")
        said[field] = value
    return said


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise _expected(f"a number after '=', got {text.strip()!r}")
    return float(text)


def _printed(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _expected(what: str) -> InvalidProblem:
    return InvalidProblem("epilogue", f"expected {what}")
