"""Cache of references for recurring problems: the last ones, within a bound of memory."""

from collections import OrderedDict

from codegen import GemmProblem
from tuner.verify.reference import Reference

MOST_BYTES = 2**28


class ReferenceCache:
    """LRU cache of references by problem and seed, `sampled` or whole. At least one is kept.

    References draw inputs and compute sums when they are asked for: how much they hold counts when another is
    requested.
    """

    def __init__(self, sampled: bool, most_bytes: int = MOST_BYTES) -> None:
        self._sampled, self._most_bytes = sampled, most_bytes
        self._kept: OrderedDict[tuple[GemmProblem, int], Reference] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, problem: GemmProblem, seed: int) -> Reference:
        """Return the reference of a problem, created if it is not cached.

        Raises:
            TooLargeToProve: not enough memory for it.
        """
        key = problem, seed
        known = self._kept.pop(key, None)
        while self._kept and self._held_bytes(known) > self._most_bytes:
            self._kept.popitem(last=False)
        self._kept[key] = known or Reference(problem, seed, self._sampled)
        return self._kept[key]

    def _held_bytes(self, wanted: Reference | None) -> int:
        return sum(each.held_bytes for each in (*self._kept.values(), wanted) if each is not None)
