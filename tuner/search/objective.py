"""What a search weighs: time alone, or time and what a kernel takes besides; and which configurations then stay."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from tuner.errors import ContraryObjective, NoEnergy
from tuner.search.method import Method

K = TypeVar("K")


class Objective(StrEnum):
    """What is made small."""

    TIME = "time"
    TIME_MEMORY = "time-memory"
    TIME_ENERGY = "time-energy"


def agreed(method: Method, objective: Objective | None) -> tuple[Method, Objective]:
    """The search and what it weighs, from what was asked for: two objectives are NSGA-II's, whose second is memory.

    Raises:
        ContraryObjective: that search does not weigh that.
    """
    if objective is None:
        return method, Objective.TIME_MEMORY if method is Method.NSGA2 else Objective.TIME
    if objective is not Objective.TIME and method is Method.PORTFOLIO:  # which is nobody's choice but the usual
        return Method.NSGA2, objective
    if (objective is Objective.TIME) == (method is Method.NSGA2):
        raise ContraryObjective(objective.value, method.value)
    return method, objective


def check_objective(objective: Objective, device: str, no_energy: str | None) -> None:
    """Return when what is to be weighed can be known of a device; `no_energy` says why its energy cannot be read.

    Raises:
        NoEnergy: it is to be weighed and cannot be read.
    """
    if objective is Objective.TIME_ENERGY and no_energy is not None:
        raise NoEnergy(device, no_energy)


def front(points: Iterable[tuple[K, float, float]]) -> list[K]:
    """Those of named points that no other beats in both numbers, from the least of the first number on.

    Of points that are alike in both, the first stays.
    """
    kept: list[K] = []
    least: float | None = None
    for name, _, second in sorted(points, key=lambda point: point[1:]):
        if least is None or second < least:
            kept.append(name)
            least = second
    return kept
