"""Greedy cover: few kernels that keep each shape within a bound of its best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Times = Sequence[Mapping[int, float]]
"""For each shape the times in microseconds by kernel number; kernels that cannot run it or have no time are missing."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Kernels by number, those first that serve most, and for each shape the kernel that serves it, or None."""

    kernels: tuple[int, ...]
    serves: tuple[int | None, ...]

    @property
    def is_one_each(self) -> bool:
        """True if every shape has a separate kernel."""
        served = [kernel for kernel in self.serves if kernel is not None]
        return len(served) > 1 and len(self.kernels) == len(served)


def greedy_cover(times: Times, weights: Sequence[float], within: float, resolution: float = 1.0) -> Cover:
    """Return kernels that keep each shape within `within` (0.05: 5 %) of its best, chosen greedily.

    Each step adds the kernel that brings most weighted time within the bound; on ties the one that is faster
    on the shapes it serves, then the one of the lowest number. A last pass drops redundant kernels. Shapes without any
    time stay unserved. Times whose ratio is at most `resolution` do not tell which of two is faster.
    """
    allowed = [_allowed(row, within) for row in times]
    worth = [w * min(row.values()) if row else 0.0 for row, w in zip(times, weights, strict=True)]
    slower = [_slower(row, resolution) for row in times]
    left = {shape for shape, kernels in enumerate(allowed) if kernels}
    chosen: list[int] = []
    while left:
        kernels = {kernel for shape in left for kernel in allowed[shape]}
        chosen.append(max(sorted(kernels), key=lambda kernel: _merit(kernel, left, allowed, slower, worth)))
        left -= {shape for shape in left if chosen[-1] in allowed[shape]}
    needed = _without_spare(chosen, allowed)
    return _cover(needed, slower, allowed, worth)


def _allowed(row: Mapping[int, float], within: float) -> set[int]:
    limit = min(row.values(), default=math.inf) * (1 + within)
    return {kernel for kernel, time_us in row.items() if time_us <= limit}


def _slower(row: Mapping[int, float], resolution: float) -> dict[int, float]:
    """Return how many times slower than the best each kernel is; 1 within the resolution."""
    least = min(row.values(), default=math.inf)
    return {kernel: time_us / least if time_us > resolution * least else 1.0 for kernel, time_us in row.items()}


def _merit(
    kernel: int, left: set[int], allowed: Sequence[set[int]], slower: Times, worth: Sequence[float]
) -> tuple[float, float]:
    served = [shape for shape in left if kernel in allowed[shape]]
    total = sum(worth[shape] for shape in served)
    return total, -sum(worth[shape] * slower[shape][kernel] for shape in served) / total if total else 0.0


def _without_spare(chosen: Sequence[int], allowed: Sequence[set[int]]) -> list[int]:
    needed = list(chosen)
    for kernel in reversed(chosen):
        others = {other for other in needed if other != kernel}
        if all(not kernels or kernels & others for kernels in allowed):
            needed.remove(kernel)
    return needed


def _cover(kernels: list[int], slower: Times, allowed: Sequence[set[int]], worth: Sequence[float]) -> Cover:
    serves = tuple(
        min((kernel for kernel in kernels if kernel in can), key=lambda kernel: (row[kernel], kernel), default=None)
        for row, can in zip(slower, allowed, strict=True)
    )
    used = {kernel: sum(w for s, w in zip(serves, worth, strict=True) if s == kernel) for kernel in kernels}
    return Cover(tuple(sorted(used, key=lambda kernel: (-used[kernel], kernel))), serves)
