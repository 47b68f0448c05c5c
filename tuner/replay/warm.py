"""Warm start of a search in a recorded space from another recorded space."""

import numpy as np

from tuner.errors import InvalidFile
from tuner.replay.recorded import RecordedSpace
from tuner.search.repair import rows_near

DONORS = 10
"""Number of configurations from the other space: its best."""


def donor_rows(recorded: RecordedSpace, other: RecordedSpace) -> list[int]:
    """Return rows near the best of another space, best first. Axes are matched by name; extra axes of the
    other are ignored.

    Raises:
        InvalidFile: the other space lacks an axis of several values.
    """
    places = {axis.name: place for place, axis in enumerate(other.axes)}
    missing = [axis.name for axis in recorded.axes if axis.name not in places and len(axis.values) > 1]
    if missing:
        raise InvalidFile(
            f"{other.name} has no axis {', '.join(missing)}, which {recorded.name} has: a search can begin "
            "with what was best in another recording of the same kernel"
        )
    best = np.argsort(other.times_us, kind="stable")[: min(DONORS, int((other.times_us > 0).sum()))]
    theirs = other.space()
    given = [theirs.config(int(row)) for row in best]
    points = [
        tuple(point[places[axis.name]] if axis.name in places else axis.values[0] for axis in recorded.axes)
        for point in given
    ]
    return rows_near(recorded.space(), points)
