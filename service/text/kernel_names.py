"""Short names of kernels: names of one template differ in their middle."""

import re
from collections.abc import Sequence
from itertools import takewhile

_SHOWN, _LONG = 92, 8  # characters of a name that are shown, and that all must share to be left out
_SEPARATORS = re.compile(r"[ ,:<>]")


def labels(names: Sequence[str]) -> list[str]:
    """Return names without what all begin and end with, where that is long; words of C++ names stay whole."""
    if len(set(names)) < 2:
        return [_short(name) for name in names]
    first = _alike(names)
    last = _alike([name[first:][::-1] for name in names])
    before, after = names[0][:first], names[0][len(names[0]) - last :]
    if words := [*_SEPARATORS.finditer(before)]:
        before = before[: words[-1].end()]
    if word := _SEPARATORS.search(after):
        after = after[word.start() :]
    head, tail = (len(part) if len(part) > _LONG else 0 for part in (before, after))
    return [_short("..." * bool(head) + name[head : len(name) - tail] + "..." * bool(tail)) for name in names]


def _alike(names: Sequence[str]) -> int:
    """Return with how many equal characters all begin."""
    return sum(1 for _ in takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False)))


def _short(name: str) -> str:
    half = (_SHOWN - 3) // 2
    return name if len(name) <= _SHOWN else f"{name[:half]}...{name[-half:]}"
