"""Samplers of Optuna and of users by name: searched by as by our own, refused where they cannot be made."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from optuna.distributions import BaseDistribution
from optuna.samplers import RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from tuner.errors import UnknownSearch
from tuner.search.method import STARTUP, Method, check_search
from tuner.search.samplers.build import build_search
from tuner.space.space import Axis, Space

Point = tuple[int, str]


def _space() -> Space[Point]:
    """20 points: 6 numbers by 4 words, without four of them."""
    axes = (Axis("block_m", (8, 16, 32, 64, 128, 256)), Axis("slm", ("none", "a", "b", "a_b")))
    points = [(x, y) for x in range(6) for y in range(4) if x + y > 1 and (x, y) != (5, 3)]
    return Space(axes, np.array(points, dtype=np.int16), lambda c: c, lambda v: (int(v[0]), str(v[1])))


class Largest(RandomSampler):
    """Suggests the largest number, and remembers what it saw."""

    seen: list[tuple[TrialState, Sequence[float] | None]] = []

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name == "block_m":
            return 256
        assert trial.params == {"block_m": 256}
        return "none"

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self.seen.append((state, values))


def test_a_sampler_of_a_user_is_asked_and_told() -> None:
    search = build_search(f"{__name__}:Largest", _space(), 1)
    configs: list[Point] = []
    while (proposal := search.ask()) is not None:
        configs.append(proposal.config)
        failed = proposal.config[1] == "b"
        search.tell(proposal.config, None if failed else float(proposal.config[0]), reason="spills" if failed else None)
    assert len(configs) == len(set(configs)) == len(_space())
    asked = configs[STARTUP:]
    assert min(number for number, _ in asked[:3]) > max(number for number, _ in asked[-3:])
    pruned, complete = TrialState.PRUNED, TrialState.COMPLETE
    assert [state for state, _ in Largest.seen] == [pruned if word == "b" else complete for _, word in asked]
    trials = search.study.trials
    assert [(t.params["block_m"], t.params["slm"]) for t in trials] == configs
    assert {t.user_attrs.get("reason") for t in trials if t.state is pruned} == {"spills"}
    assert [t.user_attrs["proposer"] for t in trials[STARTUP:]] == [f"{__name__}:Largest"] * len(asked)


@pytest.mark.parametrize("name", ["RandomSampler", "TPESampler", "CmaEsSampler", "NSGAIISampler", "BruteForceSampler"])
def test_a_sampler_of_optuna_searches_the_legal_space(name: str) -> None:
    check_search(name)
    search, space = build_search(name, _space(), 2), _space()
    seen = [proposal.config for _ in range(len(space)) if (proposal := search.ask()) is not None]
    assert len(set(seen)) == len(space)
    assert search.ask() is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hope", "expected portfolio, tpe, .* a class of optuna.samplers, or package.module:Class"),
        ("BaseSampler", "expected portfolio"),
        ("GridSampler", "cannot be made from a seed alone"),
        ("no.such.module:Sampler", "No module named 'no'"),
        ("os:path", "expected portfolio"),
        ("os:nothing", "has no attribute 'nothing'"),
    ],
)
def test_what_is_no_sampler_is_refused(name: str, said: str) -> None:
    with pytest.raises(UnknownSearch, match=said):
        check_search(name)


def test_our_own_names_are_searches() -> None:
    for method in Method:
        check_search(method.value)
