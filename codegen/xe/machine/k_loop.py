"""The place of the K loop among the instructions of a kernel."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """Instructions by number; `is_loop` is False where the compiler unrolled the loop completely."""

    part: range
    is_loop: bool


def find_k_loop(branches: Sequence[Sequence[int]], dpas: Sequence[bool], loads: Iterable[bool]) -> Region | None:
    """Return the innermost loop with the most DPAS; None without DPAS.

    Each argument has one entry for each instruction: the targets of a branch by number, whether it multiplies
    matrices, whether it loads operands. A loop extends from its first instruction to the last branch there. If no loop
    has a DPAS, the region is from the first load to the last DPAS.
    """
    numbers = [number for number, multiplies in enumerate(dpas) if multiplies]
    if not numbers:
        return None
    last = {target: number for number, targets in enumerate(branches) for target in targets if target <= number}
    loops = [part for part in (range(first, end + 1) for first, end in last.items()) if _count(dpas, part)]
    innermost = [part for part in loops if not any(_is_within(other, part) for other in loops)]
    if innermost:
        return Region(max(innermost, key=lambda part: _count(dpas, part)), is_loop=True)
    first = min(next((number for number, is_load in enumerate(loads) if is_load), numbers[0]), numbers[0])
    return Region(range(first, numbers[-1] + 1), is_loop=False)


def _count(dpas: Sequence[bool], part: range) -> int:
    return sum(dpas[part.start : part.stop])


def _is_within(inner: range, outer: range) -> bool:
    return inner != outer and inner.start >= outer.start and inner.stop <= outer.stop
