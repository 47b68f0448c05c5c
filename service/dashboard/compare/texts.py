"""Line diff of two texts."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

MOST_LINES = 2000
"""Maximum number of compared lines of each text: the cost grows with their product."""
MOST_SHOWN = 1200


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff; `kind` is same, gone, new, or gap before omitted lines."""

    kind: str
    left: int | None
    right: int | None
    text: str


@dataclass(frozen=True, slots=True)
class TextDifference:
    """Changed lines with three lines of context. `gone` and `new` count all; `clipped` if the texts are longer."""

    lines: tuple[Line, ...]
    gone: int
    new: int
    left_out: int
    clipped: bool


def difference(left: str, right: str) -> TextDifference:
    """Return the diff from one text to the other."""
    a, b = left.splitlines(), right.splitlines()
    lines = list(_lines(a[:MOST_LINES], b[:MOST_LINES]))
    return TextDifference(
        lines=tuple(lines[:MOST_SHOWN]),
        gone=sum(line.kind == "gone" for line in lines),
        new=sum(line.kind == "new" for line in lines),
        left_out=max(0, len(lines) - MOST_SHOWN),
        clipped=max(len(a), len(b)) > MOST_LINES,
    )


def _lines(a: list[str], b: list[str]) -> Iterator[Line]:
    for number, group in enumerate(difflib.SequenceMatcher(None, a, b).get_grouped_opcodes(3)):
        if number:
            yield Line("gap", None, None, "")
        for tag, a0, a1, b0, b1 in group:
            if tag == "equal":
                yield from (Line("same", a0 + i + 1, b0 + i + 1, a[a0 + i]) for i in range(a1 - a0))
            else:
                yield from (Line("gone", i + 1, None, a[i]) for i in range(a0, a1))
                yield from (Line("new", None, i + 1, b[i]) for i in range(b0, b1))
