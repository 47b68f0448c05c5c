"""Constants of the model fitted to data, one changed at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from tuner.model.xe import Constants

_FACTORS, _ROUNDS = (0.5, 0.7, 0.85, 0.93, 1.07, 1.18, 1.4, 2.0), 4


def fitted(start: Constants, names: Sequence[str], loss: Callable[[Constants], float]) -> Constants:
    """Return constants of which those with these names are changed until no factor lowers the loss."""
    best, least = start, loss(start)
    for _, name, factor in product(range(_ROUNDS), names, _FACTORS):
        tried = replace(best, **{name: getattr(best, name) * factor})
        if (found := loss(tried)) < least - 1e-5:
            best, least = tried, found
    return best
