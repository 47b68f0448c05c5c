"""Kernel Tuner's strategies in a recorded space, each driven by its own code; times are looked up.

Kernel Tuner is no dependency of this package: `python -m pip install --target SITE kernel_tuner`.
"""

import importlib
import random
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tuner.replay.recorded import Point, RecordedSpace
from tuner.replay.run import Replay

STRATEGIES = ("random_sample", "genetic_algorithm", "pso", "diff_evo", "firefly_algorithm", "simulated_annealing",
               "greedy_ils", "greedy_mls", "mls", "dual_annealing", "basinhopping", "bayes_opt")  # fmt: skip
"""Names of Kernel Tuner's strategies."""
_RUNS = 50  # configurations that a strategy may run again, for each new one


class _Enough(Exception):
    pass


class _Runner:
    """Runner for a strategy: recorded times of configurations, each new one counted once."""

    def __init__(self, recorded: RecordedSpace, budget: Any, failed: type) -> None:
        self._rows = _rows_of(recorded)
        self._names = [axis.name for axis in recorded.axes]
        self._times, self._budget, self._failed = recorded.times_us, budget, failed
        self.tried: dict[int, None] = {}
        self._left = _RUNS * budget.max_fevals
        self.dev = SimpleNamespace(max_threads=sys.maxsize)  # what bayes_opt asks for

    def add_strategy_time(self, seconds: float) -> None:
        """Nothing: evaluations are counted."""

    def run(self, configs: list[Point], options: Any) -> list[dict[str, Any] | None]:
        """The recorded result of each configuration; None when the budget is spent."""
        return [self._run(tuple(config)) for config in configs]

    def _run(self, config: Point) -> dict[str, Any] | None:
        self._left -= 1
        if self._left < 0:
            raise _Enough
        if self._budget.is_done():
            return None
        row = self._rows[config]
        if row not in self.tried:
            self.tried[row] = None
            self._budget.add_evaluations(1)
        result: dict[str, Any] = dict(zip(self._names, config, strict=True))
        time_us = float(self._times[row])
        return result | ({"time": time_us} if time_us > 0 else {"__error__": self._failed()})


def replay_with(library: Path, recorded: RecordedSpace, strategy: str, evaluations: int, seed: int) -> Replay:
    """One search by a strategy with its default options; it may end before all evaluations are used."""
    if str(library) not in sys.path:
        sys.path.append(str(library))  # after all that is there
    util = importlib.import_module("kernel_tuner.util")
    interface = importlib.import_module("kernel_tuner.interface")
    random.seed(seed)
    np.random.seed(seed)
    budget = util.TuningBudget(max_fevals=min(evaluations, len(recorded)))
    runner = _Runner(recorded, budget, util.RuntimeFailedConfig)
    space = _searchspace(recorded)
    options = interface.Options(
        strategy_options=interface.Options(), objective=["time"], objective_higher_is_better=[False],
        budget=budget, max_fevals=budget.max_fevals, verbose=False, tune_params=space.tune_params, cache={},
        restrictions=space.restrictions, eps=1, metrics=None,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(util.StopCriterionReached, _Enough):
            importlib.import_module(f"kernel_tuner.strategies.{strategy}").tune(space, runner, options)
    return Replay(np.array(list(runner.tried), dtype=np.int64), (strategy,) * len(runner.tried))


def _searchspace(recorded: RecordedSpace) -> Any:
    """Kernel Tuner's own form of the space, as it makes it of a cache; one for each search, which changes it."""
    searchspace = importlib.import_module("kernel_tuner.searchspace").Searchspace
    names = [axis.name for axis in recorded.axes]
    cache = {str(row): dict(zip(names, point, strict=True)) for point, row in _rows_of(recorded).items()}
    values = {axis.name: list(axis.values) for axis in recorded.axes}
    return searchspace(None, None, None, from_cache={"tune_params": values, "cache": cache})


@cache
def _rows_of(recorded: RecordedSpace) -> dict[Point, int]:
    space = recorded.space()
    return {space.config(row): row for row in range(len(space))}
