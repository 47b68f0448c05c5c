"""Completion of a partial GPU configuration: derive the fields that a user left open."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product

from codegen import Extent, GemmProblem, Prefetch, SplitK, XeConfig
from codegen.xe.rules import (
    check_problem,
    refusal,
    tiles_of,
)
from codegen.xe.rules.case import Problem, prepared
from hal import DeviceSpec
from tuner.model.core_clocks import Rates, core_clocks
from tuner.space.xe.axes import (
    Ranges,
    ranges_of,
)
from tuner.space.xe.heuristic import rates_of

_DISTANCES = ("prefetch.levels", "prefetch.distance", "prefetch.l2_distance")


def refit_xe(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, said: Collection[str]) -> XeConfig:
    """Return the configuration if it is legal, else a legal one with few changes to fields that were not `said`.

    Load blocks follow from the tile, sub-groups from a given block, and a block from given sub-groups; less
    is prefetched if there are fewer K steps. If nothing is legal, the configuration is unchanged, for the
    rules to report.

    Raises:
        Refused: the problem or the device is refused.
    """
    on = check_problem(problem, spec)
    if refusal(on, config) is None:
        return config
    on = prepared(on, config.strategy.workspace)
    ranges, (rates, _) = ranges_of(on), rates_of(on)
    for tiles in _tiles(ranges, config, said):
        legal = [found for tile in tiles if (found := _with_loads(on, ranges, tile, said)) is not None]
        if legal:
            return min(legal, key=lambda c: _clocks(on.problem, c, rates))
    return config


def _clocks(problem: GemmProblem, config: XeConfig, rates: Rates) -> tuple[float, int]:
    clocks = core_clocks(problem, config, rates)
    return clocks.dpas + clocks.l1 + clocks.l2, config.subgroups


def _tiles(ranges: Ranges, config: XeConfig, said: Collection[str]) -> Iterator[list[XeConfig]]:
    """Yield blocks and sub-groups: unchanged, unless only a block is given; other sub-groups; other blocks too."""
    block = config.matmul.block
    layouts = [config.strategy.sg_layout]
    if "block" not in said or "sg_layout" in said:
        yield [config]
    if "sg_layout" not in said:
        layouts = list(product(ranges.sg_rows, ranges.sg_columns))
        yield [_tile(config, block, layout) for layout in layouts]
    if "block" not in said:
        blocks = [Extent(m, n, block.k) for m, n in product(ranges.block_m, ranges.block_n)]
        yield [_tile(config, other, layout) for other, layout in product(blocks, layouts)]


def _tile(config: XeConfig, block: Extent, layout: tuple[int, int]) -> XeConfig:
    return XeConfig(replace(config.matmul, block=block), replace(config.strategy, sg_layout=layout))


def _with_loads(on: Problem, ranges: Ranges, tile: XeConfig, said: Collection[str]) -> XeConfig | None:
    """Return the tile with the largest legal load blocks, and with all prefetches if possible."""
    layout, block = tile.strategy.sg_layout, tile.matmul.block
    if block.m % layout[0] or block.n % layout[1]:
        return None
    loads = [tile.matmul.innermost]
    if "innermost" not in said:
        sides = (ranges.load_m, tile.sg_m), (ranges.load_n, tile.sg_n), (ranges.load_k, block.k)
        fitting = ([v for v in reversed(values) if length % v == 0] for values, length in sides)
        loads = [Extent(m, n, k) for m, n, k in product(*fitting)]
    for load in loads:
        loaded = XeConfig(replace(tile.matmul, innermost=load), tile.strategy)
        for config in _ahead(on.problem, loaded, said):
            if refusal(on, config) is None:
                return config
    return None


def _ahead(problem: GemmProblem, config: XeConfig, said: Collection[str]) -> Iterator[XeConfig]:
    """Yield the configuration with its work-groups, then with fewer and fewer fields that depend on the tiles
    and steps.
    """
    matmul, s = config.matmul, config.strategy
    if "k_subgroups" not in said and s.sg_layout != (1, 1):
        s = replace(s, k_subgroups=1)
    if "threads" not in said:
        matmul = replace(matmul, threads=Extent(*tiles_of(problem, config), matmul.threads.k))
    yield XeConfig(matmul, s)
    if "raster_group" not in said:
        s = replace(s, raster_group=1)
        yield XeConfig(matmul, s)
    if not set(_DISTANCES) & set(said):
        for distance in range(s.prefetch.distance - 1, 0, -1):
            s = replace(s, prefetch=replace(s.prefetch, distance=distance))
            yield XeConfig(matmul, s)
    if "k_unroll" not in said:
        s = replace(s, k_unroll=1)
        yield XeConfig(matmul, s)
    if not any(name.startswith("prefetch.") for name in said):
        s = replace(s, prefetch=Prefetch())
        yield XeConfig(matmul, s)
    if not {"threads", "split_k"} & set(said):
        matmul, s = replace(matmul, threads=replace(matmul.threads, k=1)), replace(s, split_k=SplitK.NONE)
        yield XeConfig(matmul, s)
    if "k_subgroups" not in said:
        yield XeConfig(matmul, replace(s, k_subgroups=1))
