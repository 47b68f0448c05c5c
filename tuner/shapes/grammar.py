"""Text format of shapes, with several shapes per line.

    # comment
    m=1,16,128:1024:128  n=4096  k=4096..16384*2  weight=3  name=mlp
    128x4096x14336       dtype=bf16

A line has words in any order. Sizes and the batch take values with commas between: a number, `first:last:step`
(128, 256, ..., 1024), or `first..last*factor` (4096, 8192, 16384). A line means each combination of its values.
"""

import math
import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from tuner.errors import InvalidShapes
from tuner.shapes.fields import FIELDS, Base, FieldInvalid, shape_of
from tuner.shapes.shape import MOST_SHAPES, Shape

_WORD = re.compile(r"[^\s#]\S*")
_THREE = re.compile(r"([0-9]+)x([0-9]+)x([0-9]+)", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_STEPS = re.compile(r"([0-9]{1,9}):([0-9]{1,9}):([0-9]{1,9})", re.ASCII)
_POWERS = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})\*([0-9]{1,9})", re.ASCII)
_DIGITS = 9
_LISTED = ("m", "n", "k", "batch")


class _Field(NamedTuple):
    """Values of a field, and their columns."""

    values: tuple[str, ...]
    column: int


def parse_text(text: str, base: Base) -> list[Shape]:
    """Return the shapes of a text, in order, with each line's last size varying fastest.

    Raises:
        InvalidShapes: with line and column, what was expected and got.
    """
    shapes: list[Shape] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = _fields(line, number)
        if not fields:
            continue
        count = math.prod(len(field.values) for field in fields.values())
        if len(shapes) + count > MOST_SHAPES:
            raise InvalidShapes(
                f"line {number}", f"expected at most {MOST_SHAPES} shapes in all, got {len(shapes) + count} up to here"
            )
        shapes += _combined(fields, base, number)
    return shapes


def _fields(line: str, number: int) -> dict[str, _Field]:
    found: dict[str, _Field] = {}
    for word, column in _words(line):
        for name, text, at in _said(word, column, number):
            if name in found:
                raise InvalidShapes(_place(number, column), f"expected {name} once, got it again: {word!r}")
            values = _values(text, number, at) if name in _LISTED else (text,)
            found[name] = _Field(values, at)
    return found


def _words(line: str) -> Iterator[tuple[str, int]]:
    for match in _WORD.finditer(re.sub(r"(^|\s)#.*", "", line)):
        yield match.group(), match.start() + 1


def _said(word: str, column: int, number: int) -> Iterator[tuple[str, str, int]]:
    """Yield names, texts and columns of the fields in a word."""
    if three := _THREE.fullmatch(word):
        for place, name in enumerate("mnk", start=1):
            yield name, three.group(place), column + three.start(place)
        return
    name, equals, text = word.partition("=")
    if not equals or name not in FIELDS or not text:
        raise InvalidShapes(
            _place(number, column), f"expected MxNxK or NAME=VALUE with a name of {', '.join(FIELDS)}; got {word!r}"
        )
    yield name, text, column + len(name) + 1


def _values(text: str, number: int, column: int) -> tuple[str, ...]:
    values: list[int] = []
    for part in text.split(","):
        values += _range(part, _place(number, column))
        if len(values) > MOST_SHAPES:
            raise InvalidShapes(_place(number, column), f"expected at most {MOST_SHAPES} values, got more")
        column += len(part) + 1
    return tuple(str(value) for value in dict.fromkeys(values))


def _range(part: str, where: str) -> list[int]:
    if _NUMBER.fullmatch(part):
        return [int(part)]
    if steps := _STEPS.fullmatch(part):
        first, last, step = (int(each) for each in steps.groups())
        if step < 1 or last < first:
            raise InvalidShapes(where, f"expected first:last:step with a step above 0 and last >= first, got {part!r}")
        return list(range(first, last + 1, step)[: MOST_SHAPES + 1])
    if powers := _POWERS.fullmatch(part):
        first, last, factor = (int(each) for each in powers.groups())
        if factor < 2 or first < 1 or last < first:
            raise InvalidShapes(
                where, f"expected first..last*factor with a factor above 1 and last >= first > 0, got {part!r}"
            )
        count = next(i for i in range(1, 64) if first * factor**i > last)
        return [first * factor**i for i in range(count)]
    if max(map(len, re.findall(r"[0-9]+", part, re.ASCII)), default=0) > _DIGITS:
        raise InvalidShapes(where, f"expected numbers of at most {_DIGITS} digits, got {part!r}")
    raise InvalidShapes(where, f"expected a number, first:last:step or first..last*factor, got {part!r}")


def _combined(fields: dict[str, _Field], base: Base, number: int) -> Iterator[Shape]:
    for values in product(*(field.values for field in fields.values())):
        try:
            yield shape_of(dict(zip(fields, values, strict=True)), base)
        except FieldInvalid as error:
            column = fields[error.field].column if error.field in fields else 1
            raise InvalidShapes(_place(number, column), str(error)) from error


def _place(line: int, column: int) -> str:
    return f"line {line}, column {column}"
