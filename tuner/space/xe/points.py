"""Conversion between configurations and points."""

from functools import lru_cache

from codegen import (
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
from codegen.xe.rules import (
    ceil_div,
    tiles_of,
    tiles_of_blocks,
)
from tuner.space.xe.axes import (
    DEALT,
    TURNS,
    Point,
)

_NO_VALUE = -1  # not on any axis
# Points of a space share most of their parts.
_extent, _prefetch = lru_cache(4096)(Extent), lru_cache(4096)(Prefetch)
_ORDERS = {order.value: order for order in LoopOrder}
_SLM = {operands.value: operands for operands in SlmOperands}
_SPLITS = {method.value: method for method in SplitK}
_WORKSPACES = {operands.value: operands for operands in WorkspaceOperands}


def config_of(problem: GemmProblem, point: Point) -> XeConfig:
    """Return the configuration of a point.

    Raises:
        InvalidConfig: values that contradict each other.
    """
    p, subgroups = point, point.sg_rows * point.sg_columns
    tiles_m, tiles_n = tiles_of_blocks(problem, p.block_m, p.block_n)
    levels = PrefetchLevels.NONE
    if p.prefetch:
        levels = PrefetchLevels.L2_L1 if p.prefetch_l2 else PrefetchLevels.L1
    return XeConfig(
        MatmulConfig(
            threads=_extent(ceil_div(tiles_m, p.turns_m), ceil_div(tiles_n, p.turns_n), p.splits),
            block=_extent(p.block_m, p.block_n, p.block_k),
            innermost=_extent(p.load_m, p.load_n, p.load_k),
            loop_order=_ORDERS[p.order],
        ),
        XeStrategy(
            sg_layout=(p.sg_rows, p.sg_columns),
            prefetch=_prefetch(
                levels,
                p.prefetch,
                p.prefetch_l2,
                _layout(p.prefetch_a, subgroups),
                _layout(p.prefetch_b, subgroups),
                bool(p.prefetch_hints),
                bool(p.prefetch_payloads),
            ),
            grf_mode=p.grf,
            slm=_SLM[p.slm],
            slm_stages=p.slm_stages,
            barrier_every=p.barrier_every,
            raster_group=p.raster_group,
            split_k=_SPLITS[p.split_k],
            pipelined_registers=bool(p.pipelined),
            k_unroll=p.k_unroll,
            k_subgroups=p.k_subgroups,
            workspace=_WORKSPACES[p.workspace],
        ),
    )


def point_of(problem: GemmProblem, config: XeConfig) -> Point:
    """Return the point of a configuration; without an exact one, a point with a value off the axes, or of a
    similar one.
    """
    matmul, s = config.matmul, config.strategy
    block, load, threads, prefetch = matmul.block, matmul.innermost, matmul.threads, s.prefetch
    tiles_m, tiles_n = tiles_of(problem, config)
    return Point(
        *(block.m, block.n, block.k),
        *s.sg_layout,
        *(load.m, load.k, load.n),
        grf=s.grf_mode,
        prefetch=prefetch.distance,
        prefetch_l2=prefetch.l2_distance,
        prefetch_a=_rows(prefetch.layout_a, config.subgroups),
        prefetch_b=_rows(prefetch.layout_b, config.subgroups),
        prefetch_hints=int(prefetch.hints),
        prefetch_payloads=int(prefetch.payloads),
        slm=s.slm.value,
        slm_stages=s.slm_stages,
        barrier_every=s.barrier_every,
        pipelined=int(s.pipelined_registers),
        k_unroll=s.k_unroll,
        raster_group=s.raster_group,
        order=matmul.loop_order.value,
        turns_m=turns_of(tiles_m, threads.m),
        turns_n=turns_of(tiles_n, threads.n),
        split_k=s.split_k.value,
        splits=threads.k,
        k_subgroups=s.k_subgroups,
        workspace=s.workspace.value,
    )


def turns_of(tiles: int, threads: int) -> int:
    """Return the least number of tiles per work-group with which that many work-groups compute that many tiles."""
    return next((turns for turns in TURNS if ceil_div(tiles, turns) == threads), _NO_VALUE)


def _layout(rows: int, subgroups: int) -> tuple[int, int] | None:
    return None if rows == DEALT else (rows, max(1, subgroups // rows))


def _rows(layout: tuple[int, int] | None, subgroups: int) -> int:
    if layout is None:
        return DEALT
    return layout[0] if layout[0] * layout[1] == subgroups else _NO_VALUE
