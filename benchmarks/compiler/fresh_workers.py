"""Work in processes that are replaced now and then: LLVM and MLIR keep memory."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_PER_WORKER = 200


def each(work: Callable[[Item], Result], items: Sequence[Item], processes: int) -> Iterator[Result]:
    """Results of `work`, a function of a module, for each item, in order.

    Raises:
        BrokenProcessPool: a process ended before its work.
    """
    length = _PER_WORKER * processes
    for first in range(0, len(items), length):
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as workers:
            yield from workers.map(work, items[first : first + length])
