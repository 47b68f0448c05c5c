"""The legal space of a problem on an Xe device: ranges from its facts, membership from the rules of codegen."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from codegen import (
    Extent,
    GemmProblem,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    XeStrategy,
)
from codegen.rules import ceil_div, check_problem, config_refusal
from codegen.target import SUBGROUP_SIZE, Target, target_of
from hal import DeviceSpec
from tuner.space import Axis, Space, Value

# No published kernel of these GPUs uses longer tiles or deeper K steps.
_LONGEST_BLOCK = 512
_DEEPEST_K_STEP = 128

ORDERS = (LoopOrder.M_OUTER.value, LoopOrder.N_OUTER.value)
_NO_ORDER = LoopOrder.M_OUTER.value  # no rule looks at the order


class Ranges(NamedTuple):
    """Values of every numeric axis, ascending."""

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


def xe_space(problem: GemmProblem, spec: DeviceSpec) -> Space[KernelConfig]:
    """Enumerate the legal configurations.

    Raises:
        Refused: the problem or the device is refused, or no configuration is legal.
    """
    check_problem(problem, spec)
    target = target_of(spec)
    ranges = ranges_of(problem, spec, target)
    points = np.array(list(_points(problem, spec, target, ranges)), dtype=np.int16).reshape(-1, len(ranges))
    if not len(points):
        raise Refused("no-configuration", f"no configuration of {problem} is legal on {spec.name}")
    orders = np.repeat(np.arange(len(ORDERS), dtype=np.int16), len(points))[:, None]
    points = np.hstack([np.tile(points, (len(ORDERS), 1)), orders])
    axes = (*(Axis(name, values) for name, values in ranges._asdict().items()), Axis("order", ORDERS))
    return Space(axes, points, values_of, lambda values: config_of(problem, values))


def powers_of_two(least: int, most: int) -> tuple[int, ...]:
    """Powers of two times `least`, up to the first that reaches `most`; at least one."""
    values = [least]
    while values[-1] < most:
        values.append(values[-1] * 2)
    return tuple(values)


def most_subgroups(spec: DeviceSpec) -> int:
    """Sub-groups of the largest work-group: limited by work-items and by the threads of an Xe core."""
    limits = [spec.max_workgroup_size // SUBGROUP_SIZE] if spec.max_workgroup_size is not None else []
    if spec.eus_per_core is not None and spec.threads_per_eu is not None:
        limits.append(spec.eus_per_core * spec.threads_per_eu)
    return min(limits, default=1)


def grf_modes(target: Target) -> tuple[int, ...]:
    """GRF modes that make a difference: the largest and its half; emulated built-ins know only the largest."""
    largest = max(target.grf_modes)
    return tuple(m for m in sorted(target.grf_modes) if m == largest or (m * 2 == largest and not target.emulated))


def config_of(problem: GemmProblem, values: tuple[Value, ...]) -> KernelConfig:
    """The configuration of values on the axes: one work-group for each tile of C."""
    m, n, k, rows, columns, load_m, load_k, load_n, grf, distance = (int(v) for v in values[:-1])
    return KernelConfig(
        MatmulConfig(
            threads=Extent(ceil_div(problem.m, m), ceil_div(problem.n, n), 1),
            block=Extent(m, n, k),
            innermost=Extent(load_m, load_n, load_k),
            loop_order=LoopOrder(values[-1]),
        ),
        XeStrategy(
            sg_layout=(rows, columns),
            prefetch=Prefetch(PrefetchLevels.L1 if distance else PrefetchLevels.NONE, distance),
            grf_mode=grf,
        ),
    )


def values_of(config: KernelConfig) -> tuple[Value, ...]:
    """The value of a configuration on every axis."""
    block, load, s = config.matmul.block, config.matmul.innermost, config.strategy
    loads = (load.m, load.k, load.n)
    return (
        *(block.m, block.n, block.k),
        *s.sg_layout,
        *loads,
        s.grf_mode,
        s.prefetch.distance,
        config.matmul.loop_order.value,
    )


def ranges_of(problem: GemmProblem, spec: DeviceSpec, target: Target) -> Ranges:
    """The values worth trying on every axis, before any rule is asked."""
    nbytes = problem.dtype_a.nbytes
    dpas_k = target.dpas_k_bytes // nbytes
    widest, tallest = target.block2d_max_width_bytes // nbytes, target.block2d_max_rows
    layouts = powers_of_two(1, most_subgroups(spec))
    return Ranges(
        # A tile beyond the first power of two that holds the problem only computes more padding.
        block_m=powers_of_two(target.dpas_m, min(problem.m, _LONGEST_BLOCK)),
        block_n=powers_of_two(target.dpas_n, min(problem.n, _LONGEST_BLOCK)),
        block_k=powers_of_two(dpas_k, min(problem.k, _DEEPEST_K_STEP)),
        sg_rows=layouts,
        sg_columns=layouts,
        load_m=powers_of_two(target.dpas_m, tallest),
        load_k=powers_of_two(dpas_k, min(widest, tallest, problem.k)),
        load_n=powers_of_two(target.dpas_n, widest),
        grf=grf_modes(target),
        prefetch=_distances(target),
    )


def _distances(target: Target) -> tuple[int, ...]:
    """No prefetch, then powers of two and thrice those; the rules say where it ends."""
    return (0,) if target.emulated else (0, 1, 2, 3, 4, 6, 8)


def _points(problem: GemmProblem, spec: DeviceSpec, target: Target, ranges: Ranges) -> Iterator[tuple[int, ...]]:
    """Ranks of the legal points, without the order.

    Choices that the smallest loads and K step cannot make legal are left early.
    """

    def legal(ranks: tuple[int, ...]) -> bool:
        values = tuple(axis[rank] for axis, rank in zip(ranges, ranks, strict=True))
        return config_refusal(problem, config_of(problem, (*values, _NO_ORDER)), spec, target) is None

    m_ranks, n_ranks, k_ranks, rows, columns, load_m, load_k, load_n, grf, distances = (range(len(r)) for r in ranges)
    for m, n, r, c, g in product(m_ranks, n_ranks, rows, columns, grf):
        if not legal((m, n, 0, r, c, 0, 0, 0, g, 0)):
            continue
        for k, lm, lk, ln in product(k_ranks, load_m, load_k, load_n):
            if not legal((m, n, k, r, c, lm, lk, ln, g, 0)):
                continue
            steps = ceil_div(problem.k, ranges.block_k[k])
            # A prefetch of as many steps as there are would fetch nothing.
            yield from ((m, n, k, r, c, lm, lk, ln, g, d) for d in distances if ranges.prefetch[d] < steps)
