"""Importance of parameters: the share of the differences in time that each explains alone."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LEAST_TRIALS = 12
"""Fewer trials say nothing."""


class Share(NamedTuple):
    """A parameter, the share of the variance of log time that it explains alone, and how many values it took."""

    name: str
    share: float
    values: int


def shares(fields: Sequence[Mapping[str, str | int]], times_us: Sequence[float]) -> list[Share]:
    """Omega squared of each parameter that took more than one value, the largest first; none of too few trials.

    It is the part of the variance of log time that lies between the parameter's values, less what chance would put
    there, so that a parameter with many values gains nothing by them. Parameters that matter only together have little
    of it, and the trials are those that a search chose, not a random draw.

    Source: W. L. Hays, Statistics for Psychologists (1963), omega squared of a one-way layout.
    """
    count = len(times_us)
    if count < LEAST_TRIALS:
        return []
    logs = [math.log(time_us) for time_us in times_us]
    mean = sum(logs) / count
    total = sum((value - mean) ** 2 for value in logs)
    if total <= count * (1e-9 * max(1.0, abs(mean))) ** 2:  # all alike, but for rounding
        return []
    found: list[Share] = []
    for name in dict.fromkeys(name for of in fields for name in of):
        groups: defaultdict[str | int | None, list[float]] = defaultdict(list)
        for of, value in zip(fields, logs, strict=True):
            groups[of.get(name)].append(value)
        if 1 < len(groups) < count:
            between = sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups.values())
            within = (total - between) / (count - len(groups))
            omega = (between - (len(groups) - 1) * within) / (total + within)
            found.append(Share(name, max(0.0, omega), len(groups)))
    return sorted(found, key=lambda share: (-share.share, share.name))
