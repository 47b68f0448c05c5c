"""Garbage collection policy of a compiling process: collect between compilations, not during them."""

import gc
from itertools import count

_EVERY = 8  # compilations: some MiB of IR each, whose operations and uses refer to each other
_begun = count()


def collect_between() -> None:
    """Collect garbage if due; call before each compilation. What is left, such as caches, is not looked at again."""
    number = next(_begun)
    if number == 1:
        gc.disable()
    if number == 1 or (number and number % _EVERY == 0):
        gc.collect()
        gc.freeze()
