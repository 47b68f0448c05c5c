"""The search of a problem on a device: its space, its first configurations and its samplers."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from codegen import GemmProblem, KernelConfig
from codegen.backend import backend_for, backend_of
from hal import DeviceSpec
from tuner.backend import tuning_for
from tuner.search.method import Method
from tuner.search.priors import Priors
from tuner.search.repair import rows_near
from tuner.search.space_prediction import (
    predict_space,
    predict_space_if_known,
)

if TYPE_CHECKING:
    from tuner.search.samplers.search import Search

_UNKNOWN_ENERGY = 50.0  # logarithm of microjoules, larger than any real one


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
    """Return the search of a problem, with trials that are `measured` or predicted, at most `trials` if given.

    A search for two objectives weighs memory beyond the operands, or energy if `energy_uj` is given, which
    returns that of a trial's configuration (None if unknown).

    `donors`, best first, are good for other problems or devices: a measured search begins with them, or with
    the nearest ones in this space.

    Raises:
        Refused: the problem or the device is refused, or nothing is legal.
        CannotPredict: trials are predicted, and a fact of the device is unknown.
        NoPredictions: the method needs predicted times, and there are none.
        UnknownSearch: no method has that name.
    """
    from tuner.search.samplers.build import build_ranking, build_search  # imports Optuna, which takes a second

    tuning = tuning_for(spec)
    space = tuning.space(problem, spec)
    if not measured and method in (Method.PORTFOLIO, Method.MODEL):
        return build_ranking(space, predict_space(problem, spec, space).predictions.ranked_us, seed)

    def cost(row: int) -> float:
        config = space.config(row)
        if energy_uj is None:
            return float(tuning.workspace_bytes(problem, config, spec))
        uj = energy_uj(config)
        return _UNKNOWN_ENERGY if uj is None else math.log(uj)

    foretold = predict_space_if_known(problem, spec, space)
    near = rows_near(space, [config for config in donors if backend_of(config) is backend_for(spec)])
    known = Priors(
        near,
        foretold.predictions.ranked_us if foretold is not None else None,
        foretold.hopeless() if foretold is not None else None,
        cost,
        rows_near(space, tuning.alternatives(problem, spec)),
    )
    return build_search(method, space, seed, known, trials)
