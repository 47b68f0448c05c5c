"""The objectives of a search: time alone, or time and memory or energy; and the Pareto front of two."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from tuner.errors import ContraryObjective, NoEnergy
from tuner.search.method import Method

K = TypeVar("K")


class Objective(StrEnum):
    """Objective to minimize."""

    TIME = "time"
    TIME_MEMORY = "time-memory"
    TIME_ENERGY = "time-energy"


def agreed(method: str, objective: Objective | None) -> tuple[str, Objective]:
    """Return the search and its objective for a request: two objectives need NSGA-II, memory by default.

    Raises:
        ContraryObjective: the search does not support the objective.
    """
    if objective is None:
        return method, Objective.TIME_MEMORY if method == Method.NSGA2 else Objective.TIME
    if objective is not Objective.TIME and method == Method.PORTFOLIO:  # the default
        return Method.NSGA2.value, objective
    if (objective is Objective.TIME) == (method == Method.NSGA2):
        raise ContraryObjective(objective.value, str(method))
    return method, objective


def check_objective(objective: Objective, device: str, no_energy: str | None) -> None:
    """Check that a device can measure an objective; `no_energy` says why its energy cannot be read.

    Raises:
        NoEnergy: it is an objective and cannot be read.
    """
    if objective is Objective.TIME_ENERGY and no_energy is not None:
        raise NoEnergy(device, no_energy)


def front(points: Iterable[tuple[K, float, float]]) -> list[K]:
    """Return the named points that no other dominates in both numbers, by ascending first number.

    Of equal points, the first is returned.
    """
    kept: list[K] = []
    least: float | None = None
    for name, _, second in sorted(points, key=lambda point: point[1:]):
        if least is None or second < least:
            kept.append(name)
            least = second
    return kept
