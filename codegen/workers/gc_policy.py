"""When a process that compiles again and again collects its garbage: between compilations, not in them."""

import gc
from itertools import count

_EVERY = 8  # compilations: some MiB of IR each, whose operations and uses refer to each other
_begun = count()


def collect_between() -> None:
    """Call before each compilation. What is there after the first has been loaded to stay, and is looked at no more."""
    number = next(_begun)
    if number == 1:
        gc.disable()
        gc.collect()
        gc.freeze()
    elif number % _EVERY == 0:
        gc.collect()
