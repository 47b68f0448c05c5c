"""The default configuration, the space and the search of a problem, by the kind of its device.

A search never leaves the configurations of its own kind, so that types which hold either are as good there as its own.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from codegen import CpuConfig, GemmProblem, KernelConfig, XeConfig
from hal import DeviceSpec, runs_own_code
from tuner.errors import NoPredictions
from tuner.measure.workspace import (
    cpu_extra_bytes,
    xe_extra_bytes,
)
from tuner.search.method import Known, Method, check_search
from tuner.search.repair import rows_near
from tuner.search.space_prediction import (
    is_predicted,
    predict_space,
    predict_space_if_known,
)
from tuner.space.cpu.heuristic import (
    default_cpu_config,
    explain_cpu_default,
)
from tuner.space.cpu.space import cpu_space
from tuner.space.space import Space
from tuner.space.xe.heuristic import (
    HeuristicStep,
    default_config,
    explain_default,
)
from tuner.space.xe.space import xe_space

if TYPE_CHECKING:
    from tuner.search.samplers.search import Search

C = TypeVar("C")

_UNKNOWN_ENERGY = 50.0  # logarithm of microjoules beyond all


def default_for(problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """The default configuration; always legal, and in the space.

    Raises:
        Refused: the problem or the device is refused, or nothing is legal.
    """
    return default_cpu_config(problem, spec) if runs_own_code(spec) else default_config(problem, spec)


def steps_to_default(problem: GemmProblem, spec: DeviceSpec) -> tuple[HeuristicStep, ...]:
    """The steps that led to the default, each with its reason.

    Raises:
        Refused: the problem or the device is refused, or nothing is legal.
    """
    return (explain_cpu_default(problem, spec) if runs_own_code(spec) else explain_default(problem, spec)).steps


def search_for(
    problem: GemmProblem,
    spec: DeviceSpec,
    seed: int,
    *,
    measured: bool,
    donors: Sequence[KernelConfig] = (),
    method: str = Method.PORTFOLIO,
    trials: int | None = None,
    energy_uj: Callable[[KernelConfig], float | None] | None = None,
) -> "Search[KernelConfig]":
    """Return the search of a problem, with trials that are `measured` or predicted; `trials` is how many at the most.

    A search for two objectives weighs memory beyond the operands, or, where `energy_uj` tells that of a configuration
    that was tried, energy; None is of one whose energy is not known.

    `donors`, best first, are good elsewhere: a measured search begins with them, or with what is nearest to them here.

    Raises:
        Refused: the problem or the device is refused, or nothing is legal.
        CannotPredict: trials are predicted, and a fact of the device is not known.
        NoPredictions: the method needs predicted times, and there are none.
        UnknownSearch: there is no method of that name.
    """
    from tuner.search.samplers.build import build_ranking, build_search  # imports Optuna, which takes a second

    if runs_own_code(spec):
        cpu = cpu_space(problem, spec)
        near = rows_near(cpu, [config for config in donors if isinstance(config, CpuConfig)])
        known = Known(near, cost=_cost(cpu, energy_uj, lambda config: cpu_extra_bytes(problem, config, spec)))
        return cast("Search[KernelConfig]", build_search(method, cpu, seed, known, trials))
    space = xe_space(problem, spec)
    if not measured and method in (Method.PORTFOLIO, Method.MODEL):
        ranked = predict_space(problem, spec, space)
        return cast("Search[KernelConfig]", build_ranking(space, ranked.predictions.time_us, seed))
    foretold = predict_space_if_known(problem, spec, space)
    near = rows_near(space, [config for config in donors if isinstance(config, XeConfig)])
    known = Known(
        near,
        foretold.predictions.time_us if foretold is not None else None,
        foretold.hopeless() if foretold is not None else None,
        _cost(space, energy_uj, lambda config: xe_extra_bytes(problem, config)),
    )
    return cast("Search[KernelConfig]", build_search(method, space, seed, known, trials))


def check_method(method: str, spec: DeviceSpec, *, measured: bool) -> None:
    """Return if a search of that method can begin.

    Raises:
        NoPredictions: it begins with predicted times, and there are none of the device.
        UnknownSearch: there is no method of that name.
    """
    check_search(method)
    if method == Method.MODEL and measured and (runs_own_code(spec) or not is_predicted(spec)):
        raise NoPredictions(method)


def _cost(
    space: Space[C], energy_uj: Callable[[C], float | None] | None, extra_bytes: Callable[[C], int]
) -> Callable[[int], float]:
    """The second objective of a row. Energy that is not known counts as more than any."""

    def energy(row: int) -> float:
        assert energy_uj is not None
        uj = energy_uj(space.config(row))
        return _UNKNOWN_ENERGY if uj is None else math.log(uj)

    return energy if energy_uj is not None else lambda row: float(extra_bytes(space.config(row)))
