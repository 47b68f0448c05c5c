"""Configurations that stand for what a library would choose for a shape."""

from itertools import product

import numpy as np

from benchmarks.model import roofline
from codegen import (
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.xe.rules import ceil_div
from hal import DeviceSpec
from tuner.model.xe import columns_of, columns_of_axes, predict_many


def time_of(problem: GemmProblem, config: XeConfig | None, spec: DeviceSpec) -> float:
    """The predicted time of one configuration."""
    assert config is not None
    return float(predict_many(problem, columns_of([config]), spec).time_us[0])


def tile_config(problem: GemmProblem, m: int, n: int, rows: int, columns: int) -> XeConfig:
    """A plain configuration of a tile, which prefetches."""
    groups = Extent(ceil_div(problem.m, m), ceil_div(problem.n, n), 1)
    load = Extent(min(32, m // rows), min(32, n // columns), 32)
    return XeConfig(
        MatmulConfig(groups, Extent(m, n, 32), load, LoopOrder.M_OUTER),
        XeStrategy((rows, columns), Prefetch(PrefetchLevels.L1, 3)),
    )


_TILES = tuple(
    (sg_m * rows, sg_n * columns, rows, columns)
    for sg_m, sg_n, rows, columns in product((8, 16, 32), (16, 32, 64), (1, 2, 4, 8), (1, 2, 4, 8))
    if 4 <= rows * columns <= 32
)


def best_time(problem: GemmProblem, spec: DeviceSpec) -> float:
    """The time of the best of common tiles, with and without a split of K."""
    choices = list(product(_TILES, (1, 4), (1, 2, 4, 8)))
    tiles = np.array([tile for tile, _, _ in choices])
    m, n, rows, columns = tiles.T
    splits = np.array([s for _, _, s in choices])
    axes = {
        "block_m": m,
        "block_n": n,
        "block_k": np.full(len(m), 32),
        "sg_rows": rows,
        "sg_columns": columns,
        "load_m": np.minimum(32, m // rows),
        "load_n": np.minimum(32, n // columns),
        "load_k": np.full(len(m), 32),
        "grf": np.full(len(m), 256),
        "prefetch": np.full(len(m), 3),
        "raster_group": np.array([g for _, g, _ in choices]),
        "splits": splits,
        "split_k": np.where(splits > 1, SplitK.PARTIAL_SUMS.value, SplitK.NONE.value),
    }
    return float(predict_many(problem, columns_of_axes(problem, axes), spec).time_us.min())


def best_by_roofline(problem: GemmProblem, spec: DeviceSpec) -> float:
    """The same by the roofline."""
    return min(roofline.predict(problem, tile_config(problem, *tile), spec).time_us for tile in _TILES[::4])
