"""Garbage collection policy of a compiling process: collect between compilations, not during them."""

import gc
from itertools import count

_EVERY = 8  # compilations: some MiB of IR each, whose operations and uses refer to each other
_begun = count()


def collect_between() -> None:
    """Collect garbage if due; call before each compilation. Objects that exist after the first are frozen."""
    number = next(_begun)
    if number == 1:
        gc.disable()
        gc.collect()
        gc.freeze()
    elif number % _EVERY == 0:
        gc.collect()
