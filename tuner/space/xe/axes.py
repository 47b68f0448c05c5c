"""Axes of the space: the values of every choice, from the facts of the device and the problem."""

from typing import NamedTuple

from codegen import LoopOrder, SlmOperands, SplitK, WorkspaceOperands
from codegen.config.xe import XE_ORDERS
from codegen.target import Target
from codegen.xe.rules import ceil_div
from codegen.xe.rules.case import Problem
from hal import DeviceSpec

# No published kernel of these GPUs uses longer tiles, deeper K steps or more splits of K.
_LONGEST_BLOCK = 512
_DEEPEST_K_STEP = 128
_MOST_SPLITS = 16
_MOST_K_SUBGROUPS = 32

DEALT = 0
"""Value of a prefetch's layout: the builder distributes the tile."""
TURNS = (1, 2, 4, 8, 16)
"""Numbers of tiles per work-group along one side of C."""


class Point(NamedTuple):
    """A configuration as one value per axis; the defaults are the simplest.

    `prefetch` and `prefetch_l2` are K steps; `prefetch_a` and `prefetch_b` are rows of sub-groups that share a
    prefetch, among all of the work-group. `turns_m` and `turns_n` are tiles per work-group.
    """

    block_m: int
    block_n: int
    block_k: int
    sg_rows: int
    sg_columns: int
    load_m: int
    load_k: int
    load_n: int
    grf: int
    prefetch: int = 0
    prefetch_l2: int = 0
    prefetch_a: int = DEALT
    prefetch_b: int = DEALT
    prefetch_hints: int = 1
    prefetch_payloads: int = 0
    slm: str = SlmOperands.NONE.value
    slm_stages: int = 0
    barrier_every: int = 0
    pipelined: int = 0
    k_unroll: int = 1
    raster_group: int = 1
    order: str = LoopOrder.M_OUTER.value
    turns_m: int = 1
    turns_n: int = 1
    split_k: str = SplitK.NONE.value
    splits: int = 1
    k_subgroups: int = 1
    workspace: str = WorkspaceOperands.NONE.value


PARAMETERS = {
    "sg_rows": "sg_layout_m",
    "sg_columns": "sg_layout_n",
    "load_m": "innermost_m",
    "load_k": "innermost_k",
    "load_n": "innermost_n",
    "grf": "grf_mode",
    "prefetch": "prefetch_distance",
    "prefetch_l2": "prefetch_l2_distance",
    "prefetch_a": "prefetch_layout_a",
    "prefetch_b": "prefetch_layout_b",
    "pipelined": "pipelined_registers",
    "order": "loop_order",
    "splits": "threads_k",
}
"""Names of the axes in a search, those of the configuration, where a point's field has another name."""


class Ranges(NamedTuple):
    """Values worth trying on every axis, in their natural order, before any rule is applied. Fields are those
    of a point.
    """

    block_m: tuple[int, ...]
    block_n: tuple[int, ...]
    block_k: tuple[int, ...]
    sg_rows: tuple[int, ...]
    sg_columns: tuple[int, ...]
    load_m: tuple[int, ...]
    load_k: tuple[int, ...]
    load_n: tuple[int, ...]
    grf: tuple[int, ...]
    prefetch: tuple[int, ...]
    prefetch_l2: tuple[int, ...]
    prefetch_a: tuple[int, ...]
    prefetch_b: tuple[int, ...]
    prefetch_hints: tuple[int, ...]
    prefetch_payloads: tuple[int, ...]
    slm: tuple[str, ...]
    slm_stages: tuple[int, ...]
    barrier_every: tuple[int, ...]
    pipelined: tuple[int, ...]
    k_unroll: tuple[int, ...]
    raster_group: tuple[int, ...]
    order: tuple[str, ...]
    turns_m: tuple[int, ...]
    turns_n: tuple[int, ...]
    split_k: tuple[str, ...]
    splits: tuple[int, ...]
    k_subgroups: tuple[int, ...]
    workspace: tuple[str, ...]


def ranges_of(on: Problem) -> Ranges:
    """Return the values on every axis; one if a choice has no effect for the problem or the device."""
    problem, target = on.problem, on.target
    layouts = powers_of_two(1, most_subgroups(on.spec, on.target.subgroup_size))
    prefetches = not target.emulated and not (on.lanes_a and on.lanes_b)
    load_m, load_k, load_n = _loads(on)
    return Ranges(
        # A tile beyond the first power of two that holds the problem only computes more padding.
        block_m=powers_of_two(target.dpas_m, min(max(problem.rows_of_experts), _LONGEST_BLOCK)),
        block_n=powers_of_two(target.dpas_n, min(problem.n, _LONGEST_BLOCK)),
        block_k=powers_of_two(on.dpas_k, min(problem.k, _DEEPEST_K_STEP)),
        sg_rows=layouts,
        sg_columns=layouts,
        load_m=load_m,
        load_k=load_k,
        load_n=load_n,
        grf=grf_modes(target),
        prefetch=(0, 1, 2, 3, 4, 6, 8) if prefetches else (0,),
        prefetch_l2=(0, 2, 4, 6, 8, 12, 16) if prefetches else (0,),
        prefetch_a=(DEALT, *layouts) if prefetches and not on.lanes_a else (DEALT,),
        prefetch_b=(DEALT, *layouts) if prefetches and not on.lanes_b else (DEALT,),
        prefetch_hints=(0, 1) if prefetches else (1,),
        prefetch_payloads=(0, 1) if prefetches else (0,),
        slm=tuple(operands.value for operands in SlmOperands),
        slm_stages=(0, 2, 3, 4),
        barrier_every=(0, 1, 2, 4, 8),
        pipelined=(0, 1),
        k_unroll=(1, 2, 4, 8),
        raster_group=(1, 2, 4, 8, 16),
        order=tuple(order.value for order in XE_ORDERS),
        turns_m=TURNS,
        turns_n=TURNS,
        split_k=tuple(method.value for method in SplitK),
        splits=powers_of_two(1, min(_MOST_SPLITS, ceil_div(problem.k, on.dpas_k))),
        k_subgroups=tuple(parts for parts in layouts if parts <= _MOST_K_SUBGROUPS),
        workspace=(on.workspace.value,),
    )


def powers_of_two(least: int, most: int) -> tuple[int, ...]:
    """Return powers of two times `least`, up to the first that reaches `most`; at least one."""
    values = [least]
    while values[-1] < most:
        values.append(values[-1] * 2)
    return tuple(values)


def most_subgroups(spec: DeviceSpec, lanes: int) -> int:
    """Return the sub-groups of the largest work-group: limited by work-items and by the threads of an Xe core."""
    limits = [spec.max_workgroup_size // lanes] if spec.max_workgroup_size is not None else []
    if spec.eus_per_core is not None and spec.threads_per_eu is not None:
        limits.append(spec.eus_per_core * spec.threads_per_eu)
    return min(limits, default=1)


def grf_modes(target: Target) -> tuple[int, ...]:
    """Return the GRF modes with distinct effects: the largest and its half; only the largest for emulated built-ins."""
    largest = max(target.grf_modes)
    return tuple(m for m in sorted(target.grf_modes) if m == largest or (m * 2 == largest and not target.emulated))


def _loads(on: Problem) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return rows, depth and columns of load blocks; the least if no block loads can be chosen."""
    problem, target = on.problem, on.target
    tallest, widest = target.load_shape[0], target.load_shape[1] // problem.dtype_a.nbytes
    of_a = on.uses_dpas and not (problem.transpose_a or on.lanes_a)
    of_b = on.uses_dpas and not (problem.transpose_b or on.lanes_b or problem.has_weights)
    deepest = min(widest if of_a else tallest, tallest if of_b else widest, problem.k) if of_a or of_b else on.dpas_k
    return (
        powers_of_two(target.dpas_m, tallest if of_a else target.dpas_m),
        powers_of_two(on.dpas_k, deepest),
        powers_of_two(target.dpas_n, widest if of_b else target.dpas_n),
    )
