"""What a search begins with and runs in, by the kind of its device: the default, the space, who proposes.

A search never leaves the configurations of its own kind, so that types which hold either are as good there as its own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from codegen import CpuConfig, GemmProblem, KernelConfig, XeConfig
from hal import DeviceSpec, runs_own_code
from tuner.errors import NoPredictions
from tuner.measure.workspace import (
    cpu_extra_bytes,
    xe_extra_bytes,
)
from tuner.search.method import Known, Method, proposer_for, ranking
from tuner.search.proposer import Proposer
from tuner.search.repair import rows_near
from tuner.search.space_prediction import (
    forecast,
    forecast_if_known,
    is_predicted,
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

C = TypeVar("C")

_UNKNOWN_ENERGY = 50.0  # logarithm of microjoules beyond all


@dataclass(frozen=True, slots=True)
class Search:
    """Who proposes configurations, of a space of so many that `version` names."""

    size: int
    version: str
    proposer: Proposer[KernelConfig]


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
    method: Method = Method.PORTFOLIO,
    trials: int | None = None,
    energy_uj: Callable[[KernelConfig], float | None] | None = None,
) -> Search:
    """What to search, with trials that are `measured` or predicted; `trials` is how many at the most.

    A search for two objectives weighs memory beyond the operands, or, where `energy_uj` tells that of a configuration
    that was tried, energy; None is of one whose energy is not known.

    `donors`, best first, are good elsewhere: a measured search begins with them, or with what is nearest to them here.

    Raises:
        Refused: the problem or the device is refused, or nothing is legal.
        CannotPredict: trials are predicted, and a fact of the device is not known.
        NoPredictions: the method needs predicted times, and there are none.
    """
    if runs_own_code(spec):
        cpu = cpu_space(problem, spec)
        near = rows_near(cpu, [config for config in donors if isinstance(config, CpuConfig)])
        known = Known(near, cost=_cost(cpu, energy_uj, lambda config: cpu_extra_bytes(problem, config, spec)))
        return _search(cpu, proposer_for(method, cpu, seed, known, trials))
    space = xe_space(problem, spec)
    if not measured and method in (Method.PORTFOLIO, Method.MODEL):
        ranked = forecast(problem, spec, space)
        return _search(space, ranking(space, ranked.predictions.time_us, seed))
    foretold = forecast_if_known(problem, spec, space)
    near = rows_near(space, [config for config in donors if isinstance(config, XeConfig)])
    known = Known(
        near,
        foretold.predictions.time_us if foretold is not None else None,
        foretold.hopeless() if foretold is not None else None,
        _cost(space, energy_uj, lambda config: xe_extra_bytes(problem, config)),
    )
    return _search(space, proposer_for(method, space, seed, known, trials))


def check_method(method: Method, spec: DeviceSpec, *, measured: bool) -> None:
    """Return when a search can begin as its method does.

    Raises:
        NoPredictions: it begins with predicted times, and there are none of the device.
    """
    if method is Method.MODEL and measured and (runs_own_code(spec) or not is_predicted(spec)):
        raise NoPredictions(method.value)


def _cost(
    space: Space[C], energy_uj: Callable[[C], float | None] | None, extra_bytes: Callable[[C], int]
) -> Callable[[int], float]:
    """The second objective of a row. Energy that is not known counts as more than any."""

    def energy(row: int) -> float:
        assert energy_uj is not None
        uj = energy_uj(space.config(row))
        return _UNKNOWN_ENERGY if uj is None else math.log(uj)

    return energy if energy_uj is not None else lambda row: float(extra_bytes(space.config(row)))


def _search(space: Space[C], proposer: Proposer[C]) -> Search:
    return Search(len(space), space.version, cast("Proposer[KernelConfig]", proposer))
