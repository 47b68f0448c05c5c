"""Cache of references for recurring problems: the last ones, within a bound of memory."""

from collections import OrderedDict

from codegen import GemmProblem
from tuner.verify.reference import Reference

MOST_BYTES = 2**30
_PER_OUTPUT = 8 + 3 * 8  # a sum and its bounds, in float64


class ReferenceCache:
    """LRU cache of references by problem and seed. At least one is kept."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[GemmProblem, int], Reference] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, problem: GemmProblem, seed: int) -> Reference:
        """Return the reference of a problem, created if it is not cached.

        Raises:
            TooLargeToProve: not enough memory for it.
        """
        key = problem, seed
        if key not in self._kept:
            while self._kept and self._bytes() + _bytes_of(problem) > self._most_bytes:
                self._kept.popitem(last=False)
            self._kept[key] = Reference(problem, seed)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _bytes(self) -> int:
        return sum(_bytes_of(problem) for problem, _ in self._kept)


def _bytes_of(problem: GemmProblem) -> int:
    operands = sum(operand.nbytes(problem.batch) for operand in problem.operands)
    return operands + _PER_OUTPUT * problem.batch * problem.m * problem.n
