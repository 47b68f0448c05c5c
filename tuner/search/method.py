"""Names and objectives of searches, and Pareto fronts; does not import Optuna."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from tuner.errors import ContraryObjective, NoEnergy, NoPredictions

if TYPE_CHECKING:
    from hal import DeviceSpec

DONOR = "donor"
"""Proposer of configurations that are good for other problems or devices."""
ALTERNATIVE = "alternative"
"""Proposer of defaults of other instructions than those of the default."""
OTHER_SHAPE = "other shape"
"""Proposer of the trials of other shapes' kernels."""
DESCENT = "descent"
STARTUP = 8
"""Number of given or random trials before the samplers are used."""


class Method(StrEnum):
    """Searches of this program. Other names are samplers: of `optuna.samplers`, or `package.module:Class`."""

    PORTFOLIO = "portfolio"
    TPE = "tpe"
    CMAES = "cmaes"
    NSGA2 = "nsga2"
    GP = "gp"
    MODEL = "model"
    RANDOM = "random"
    EXHAUSTIVE = "exhaustive"

    @property
    def learns(self) -> bool:
        """True if it uses prior times: those of donors and of its own trials."""
        return self not in (Method.RANDOM, Method.EXHAUSTIVE)


def check_method(method: str, spec: "DeviceSpec", *, measured: bool) -> None:
    """Check that a search of that method can begin.

    Raises:
        NoPredictions: it needs predicted times, and the device has none.
        UnknownSearch: no method has that name.
    """
    check_search(method)
    if method == Method.MODEL and measured:
        # Imported here: the options of commands need the names of searches alone.
        from tuner.backend import is_predicted

        if not is_predicted(spec):
            raise NoPredictions(method)


def check_search(name: str) -> None:
    """Check that a search of that name can be built.

    Raises:
        UnknownSearch: it is neither a name of this program nor a sampler that can be constructed from a seed.
    """
    if name not in set(Method):
        from tuner.search.samplers.named import sampler_class  # imports Optuna, which takes a second

        sampler_class(name)(0)


def learns(name: str) -> bool:
    """Return whether a search of that name uses prior times: those of donors and of its own trials."""
    return name not in (Method.RANDOM, Method.EXHAUSTIVE)


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
