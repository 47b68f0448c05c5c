"""Construction of searches by name: samplers and first configurations."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from optuna.samplers import CmaEsSampler, NSGAIISampler

from tuner.errors import NoPredictions
from tuner.search.gp import FIRST_FIT, GaussianProcess
from tuner.search.method import ALTERNATIVE, DESCENT, DONOR, STARTUP, Method, learns
from tuner.search.priors import Priors
from tuner.search.samplers.descent import DescentSampler
from tuner.search.samplers.gp import GaussianProcessSampler
from tuner.search.samplers.known_space_tpe import KnownSpaceTpe
from tuner.search.samplers.named import sampler_class
from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.plain import InOrderSampler, RandomRowSampler
from tuner.search.samplers.portfolio import PortfolioSampler
from tuner.search.samplers.projected import ProjectedSampler
from tuner.search.samplers.ranked import RankedSampler, first_ranked
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.samplers.search import Search
from tuner.search.tried import Tried
from tuner.space.space import Space

C = TypeVar("C")

_MODEL_KEEPS, _MODEL_KEEPS_SHARE = 256, 0.05  # rows kept of those that the model ranks first: minimum, and share of all
_NOTHING = Priors()
_FIRST_DONORS = 1  # donors that a Gaussian process begins with: it expects more or less of others by what was tried
_OFFSPRING = 16  # per generation of NSGA-II


def build_search(
    name: str, space: Space[C], seed: int, known: Priors = _NOTHING, trials: int | None = None
) -> Search[C]:
    """Return the search of that name in a space, for that many trials if known.

    Raises:
        NoPredictions: it needs predicted times.
        UnknownSearch: no search has that name.
    """
    name = str(name)  # not the enum member, which Optuna would store
    if not learns(name):
        parameters, tried = Parameters(space), Tried(space, seed)
        plain = RandomRowSampler if name == Method.RANDOM else InOrderSampler
        return Search(space, PortfolioSampler(parameters, tried, {name: plain(parameters, tried)}, startup=0))
    dropped = known.hopeless
    if name == Method.PORTFOLIO and trials is not None and trials >= len(space):
        dropped = None  # all are tried, the most promising first, as the time limit may end it
    if name == Method.MODEL:
        if known.predicted_us is None:
            raise NoPredictions(name)
        dropped = _all_but_best(known.predicted_us)
    by_process = name in (Method.PORTFOLIO, Method.GP, Method.MODEL)
    begun_with = known.donors[:_FIRST_DONORS] if by_process else known.donors
    first = [*((row, ALTERNATIVE) for row in known.alternatives), *((row, DONOR) for row in begun_with)]
    if known.predicted_us is not None:
        first += [(row, Method.MODEL.value) for row in first_ranked(space, known.predicted_us, STARTUP)]
    tried = Tried(space, seed, dropped)
    if by_process:
        return Search(space, _by_process(name, tried, first, known.donors, trials))
    cost = (known.cost or _no_cost) if name == Method.NSGA2 else None
    sampler = _projected(name, tried)
    return Search(space, PortfolioSampler(sampler.parameters, tried, {name: sampler}, first), cost)


def build_ranking(space: Space[C], predicted_us: NDArray[np.float64], seed: int) -> Search[C]:
    """Return the search over predicted times, which does not learn."""
    parameters, tried = Parameters(space), Tried(space, seed)
    sampler = RankedSampler(parameters, tried, predicted_us)
    return Search(space, PortfolioSampler(parameters, tried, {Method.MODEL.value: sampler}, startup=0))


def _by_process(
    name: str, tried: Tried, first: list[tuple[int, str]], donors: Sequence[int], trials: int | None
) -> PortfolioSampler:
    """Return the samplers of a Gaussian process: alone, or with TPE where it is in doubt, or a descent at the end.

    Beside a donor that is not the fastest, the process proposes in place of the last random rows: it gains more than
    these, which makes up for the trial of the donor.
    """
    draws = FIRST_FIT - 1 if donors else STARTUP
    parameters, process = Parameters(tried.space), GaussianProcess(tried.space, donors)
    of_process = GaussianProcessSampler(parameters, tried, process)
    if name != Method.PORTFOLIO:
        samplers: dict[str, RowSampler] = {name: of_process}
        return PortfolioSampler(parameters, tried, samplers, first, draws=draws)
    samplers = {
        Method.GP.value: of_process,
        Method.TPE.value: _tpe(parameters, tried),
        DESCENT: DescentSampler(parameters, tried, process),
    }
    return PortfolioSampler(parameters, tried, samplers, first, trials, draws=draws, doubt=process.doubt)


def _projected(name: str, tried: Tried) -> ProjectedSampler:
    """Return a sampler of Optuna or of a user."""
    match name:
        case Method.TPE:
            return _tpe(Parameters(tried.space), tried)
        case Method.CMAES:
            # It starts in the middle of each axis with a step of a sixth of it, by its own defaults.
            return ProjectedSampler(
                Parameters(tried.space, as_ranks=True),
                tried,
                lambda seed: CmaEsSampler(seed=seed, n_startup_trials=0, warn_independent_sampling=False),
            )
        case Method.NSGA2:
            return ProjectedSampler(
                Parameters(tried.space, as_ranks=True),
                tried,
                lambda seed: NSGAIISampler(seed=seed, population_size=_OFFSPRING),
            )
        case _:
            found = sampler_class(name)
            return ProjectedSampler(
                Parameters(tried.space, as_ranks=found.needs_ranks), tried, found, is_stateful=found.is_foreign
            )


def _tpe(parameters: Parameters, tried: Tried) -> ProjectedSampler:
    known: dict[int, list[int]] = {}
    return ProjectedSampler(parameters, tried, lambda seed: KnownSpaceTpe(parameters.distributions, seed, known))


def _no_cost(row: int) -> float:
    return 0.0


def _all_but_best(predicted_us: NDArray[np.float64]) -> NDArray[np.bool_]:
    keep = max(_MODEL_KEEPS, int(_MODEL_KEEPS_SHARE * len(predicted_us)))
    dropped = np.ones(len(predicted_us), dtype=np.bool_)
    dropped[np.argsort(predicted_us, kind="stable")[:keep]] = False
    return dropped
