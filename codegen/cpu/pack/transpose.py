"""Transposition of a square of 32-bit values in vector registers, by single-instruction shuffles."""

from collections.abc import Sequence

from codegen.cpu.emit.writer import (
    Function,
    mask,
)

_QUARTER = 4  # values of 32 bits in 128 bits, which the cheap shuffles stay within


def write_transposed(f: Function, lines: Sequence[str]) -> list[str]:
    """Transpose 8 or 16 vectors of as many i32: value i of vector j is value j of line i."""
    count = len(lines)
    pairs = [_both_halves(f, lines[i], lines[i + 1], count, 1) for i in range(0, count, 2)]
    columns: list[list[str]] = [[] for _ in range(_QUARTER)]
    for (low, high), (other_low, other_high) in zip(pairs[::2], pairs[1::2], strict=True):
        four = (*_both_halves(f, low, other_low, count, 2), *_both_halves(f, high, other_high, count, 2))
        for column, vector in zip(columns, four, strict=True):
            column.append(vector)
    # Of each column of a quarter, lines 0 to 3, 4 to 7 and so on: the quarters remain to be transposed.
    quarters = [_quarters(f, column, count) for column in columns]
    return [quarters[j % _QUARTER][j // _QUARTER] for j in range(count)]


def _both_halves(f: Function, a: str, b: str, count: int, size: int) -> tuple[str, str]:
    """Interleave pieces of `size` values from a and b: of the lower and of the upper half of each 128 bits."""

    def numbers(half: int) -> list[int]:
        begin = [quarter + half * 2 for quarter in range(0, count, _QUARTER)]
        if size == 1:
            return [n for at in begin for n in (at, count + at, at + 1, count + at + 1)]
        return [n for at in begin for n in (at, at + 1, count + at, count + at + 1)]

    return _shuffled(f, a, b, numbers(0)), _shuffled(f, a, b, numbers(1))


def _quarters(f: Function, vectors: Sequence[str], count: int) -> list[str]:
    """Transpose quarters of 2 or 4 vectors: quarter i of vector j is quarter j of vector i."""
    if len(vectors) == 2:
        return [_picked(f, vectors[0], vectors[1], count, of) for of in ((0, 2), (1, 3))]
    evens, odds = (0, 2, 4, 6), (1, 3, 5, 7)
    a, b, c, d = vectors
    first, second = (_picked(f, a, b, count, of) for of in (evens, odds))
    third, fourth = (_picked(f, c, d, count, of) for of in (evens, odds))
    even = [_picked(f, first, third, count, of) for of in (evens, odds)]
    odd = [_picked(f, second, fourth, count, of) for of in (evens, odds)]
    return [even[0], odd[0], even[1], odd[1]]


def _picked(f: Function, a: str, b: str, count: int, quarters: Sequence[int]) -> str:
    """Select quarters of a, then of b, by number."""
    return _shuffled(f, a, b, [quarter * _QUARTER + i for quarter in quarters for i in range(_QUARTER)])


def _shuffled(f: Function, a: str, b: str, numbers: Sequence[int]) -> str:
    kind = f"<{len(numbers)} x i32>"
    return f.op(f"shufflevector {kind} {a}, {kind} {b}, {mask(numbers)}")
