"""Divergent regions of a kernel, with their entries and exits.

A region is closed: lanes enter only from one block before it, and all leave it to its exit. Within a region the lanes
of the earliest block run first.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from codegen.simulate.instructions.flow import segments
from codegen.simulate.llvm_ir.ir import Function

RETURN = ""  # the exit of a region that lanes leave by returning


@dataclass(frozen=True, slots=True)
class Region:
    """Blocks in running order, the block before them and the one after them.

    A region `is_simple` if lanes run its one block or not, and go on together.
    """

    source: str
    blocks: tuple[str, ...]
    exit: str
    is_simple: bool


class Flow:
    """Control-flow graph of a kernel, without unreachable blocks."""

    def __init__(self, function: Function) -> None:
        self.order = [segment.label for segment in segments(function, lambda i: False)]
        self._after = {
            block.label: block.body[-1].labels or (RETURN,) for block in function.blocks if block.label in self.order
        }
        before: dict[str, list[str]] = {label: [] for label in (*self.order, RETURN)}
        for label, targets in self._after.items():
            for target in targets:
                before[target].append(label)
        self._before = before
        self._dominators = _dominators(self.order[0], self._after, before)
        self._postdominators = _dominators(RETURN, before, {**self._after, RETURN: ()})

    def regions(self, divergent: Iterable[str]) -> tuple[Region, ...]:
        """Return the regions after blocks whose lanes diverge."""
        found: list[Region] = []
        for label in sorted(divergent, key=self.order.index):
            if not any(label in region.blocks for region in found):
                region = self._region(label)
                found = [other for other in found if not set(other.blocks) & set(region.blocks)]
                found.append(region)
        return tuple(found)

    def _region(self, source: str) -> Region:
        """Return the smallest region with these lanes in it: its source grows until all enter from one block."""
        while True:
            after = self._after_all(source)
            inside = self._reached(source, after)
            sources = {e for label in inside for e in self._before[label] if e not in inside}
            common = self._common_dominator(sources)
            if sources == {common}:
                blocks = tuple(label for label in self.order if label in inside)
                is_simple = len(blocks) == 1 and after != RETURN and self._after[blocks[0]] == (after,)
                return Region(common, blocks, after, is_simple)
            source = common

    def _after_all(self, label: str) -> str:
        """Return the nearest post-dominator of a block."""
        later = self._postdominators.get(label, {label, RETURN}) - {label}
        return _last(later, self._postdominators)

    def _common_dominator(self, labels: set[str]) -> str:
        shared = set.intersection(*(self._dominators[label] for label in labels))
        return _last(shared, self._dominators)

    def _reached(self, source: str, end: str) -> set[str]:
        inside: set[str] = set()
        waiting = [target for target in self._after[source] if target != end]
        while waiting:
            label = waiting.pop()
            if label not in inside:
                inside.add(label)
                waiting += [target for target in self._after[label] if target != end]
        return inside


def _last(labels: set[str], dominators: dict[str, set[str]]) -> str:
    """Return the last of blocks that form a chain of dominators."""
    return max(labels, key=lambda label: len(dominators[label]))


def _dominators(
    root: str,
    after: dict[str, tuple[str, ...]] | dict[str, list[str]],
    before: dict[str, list[str]] | dict[str, tuple[str, ...]],
) -> dict[str, set[str]]:
    """Return the dominators of each block."""
    labels, waiting = {root}, [root]
    while waiting:
        for target in after.get(waiting.pop(), ()):
            if target not in labels:
                labels.add(target)
                waiting.append(target)
    found = {label: set(labels) for label in labels} | {root: {root}}
    changed = True
    while changed:
        changed = False
        for label in labels - {root}:
            leading = [found[other] for other in before[label] if other in labels]
            new = {label} | (set.intersection(*leading) if leading else set())
            if new != found[label]:
                found[label], changed = new, True
    return found
