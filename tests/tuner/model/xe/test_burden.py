"""Order of configurations that predicted times do not tell apart."""

from dataclasses import replace

import numpy as np

from codegen import Extent, GemmProblem, MatmulConfig, Prefetch, PrefetchLevels, XeConfig, XeStrategy
from codegen.xe.rules import ceil_div
from hal import find
from tuner.model.resolution import RESOLUTION
from tuner.model.xe import columns_of, predict, predict_many
from tuner.model.xe.burden import MOST

B580 = find("b580")
WIDE, THIN = GemmProblem(4096, 3072, 2048), GemmProblem(16, 1536, 4096)


def _config(
    problem: GemmProblem, m: int, n: int, layout: tuple[int, int], load: tuple[int, int] = (32, 32)
) -> XeConfig:
    groups = Extent(ceil_div(problem.m, m), ceil_div(problem.n, n), 1)
    extent = Extent(min(load[0], m // layout[0]), min(load[1], n // layout[1]), 32)
    return XeConfig(MatmulConfig(groups, Extent(m, n, 32), extent), XeStrategy(layout, Prefetch(PrefetchLevels.L1, 3)))


def _burden(problem: GemmProblem, config: XeConfig) -> float:
    return predict(problem, config, B580).burden


def _strategy(config: XeConfig, **changed: object) -> XeConfig:
    return replace(config, strategy=replace(config.strategy, **changed))


def test_more_occupied_thread_slots_come_first_even_without_prefetch() -> None:
    few, more = _config(THIN, 16, 32, (1, 2)), _config(THIN, 16, 32, (2, 2))
    assert _burden(THIN, few) > _burden(THIN, more)
    assert _burden(THIN, few) > _burden(THIN, _strategy(more, prefetch=Prefetch()))


def test_then_prefetch_decides_even_with_more_messages() -> None:
    config, small = _config(WIDE, 256, 256, (8, 4)), _config(WIDE, 256, 256, (8, 4), (8, 16))
    assert _burden(WIDE, _strategy(config, prefetch=Prefetch())) > _burden(WIDE, small)


def test_then_measured_features_and_fewer_messages() -> None:
    config, small = _config(WIDE, 256, 256, (8, 4)), _config(WIDE, 256, 256, (8, 4), (8, 16))
    barriers = _strategy(config, barrier_every=4)
    assert _burden(WIDE, config) < _burden(WIDE, small) < _burden(WIDE, barriers)


def test_half_the_messages_are_the_smaller_burden() -> None:
    assert _burden(WIDE, _config(WIDE, 256, 256, (8, 4))) < _burden(WIDE, _config(WIDE, 256, 128, (8, 4)))


def test_the_burden_changes_the_rank_by_at_most_the_resolution() -> None:
    configs = [_config(THIN, 16, 32, (1, 2)), _strategy(_config(THIN, 16, 32, (2, 2)), prefetch=Prefetch())]
    predicted = predict_many(THIN, columns_of(configs), B580)
    assert (predicted.burden <= MOST).all()
    ratio = predicted.ranked_us / predicted.time_us
    assert (ratio >= 1).all()
    assert (ratio <= RESOLUTION).all()
    assert np.argmin(ratio) == np.argmin(predicted.burden)
