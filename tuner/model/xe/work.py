"""Distribution of work-groups over cores: how many run concurrently, and in how many rounds."""

from dataclasses import dataclass

import numpy as np

from tuner.model.xe.columns import Column, Columns, tiles_over_m
from tuner.model.xe.device import Case


@dataclass(frozen=True, slots=True)
class Work:
    """Work-groups of a launch. The busiest core runs `rounds` times `resident` of them, then `left` more, 0 for none.

    `steps` are K steps of one tile, `turns` the tiles that a work-group computes, `running` the concurrent
    work-groups of the whole device.
    """

    tiles_m: Column
    tiles_n: Column
    steps: Column
    turns: Column
    groups: Column
    subgroups: Column
    threads_per_engine: Column
    resident: Column
    rounds: Column
    left: Column
    running: Column


def work_of(on: Case, c: Columns) -> Work:
    """Return the distribution of work-groups over cores."""
    p = on.problem
    tiles_m, tiles_n = tiles_over_m(p, c.block_m), np.ceil(p.n / c.block_n)
    groups_m, groups_n = np.minimum(c.groups_m, tiles_m), np.minimum(c.groups_n, tiles_n)
    groups = groups_m * groups_n * c.splits * p.batch
    turns = np.ceil(tiles_m / groups_m) * np.ceil(tiles_n / groups_n)
    if p.experts is not None:  # numbered in one line
        turns = np.ceil(tiles_m * tiles_n / groups)
    subgroups, threads = c.subgroups, on.threads_per_engine(c.grf)
    resident = np.maximum(1, threads * on.engines // subgroups)
    slm = slm_bytes(on, c)
    resident = np.where(slm > 0, np.clip(on.max_slm_bytes // np.maximum(slm, 1), 1, resident), resident)
    of_core = np.ceil(groups / on.cores)
    resident = np.minimum(resident, of_core)
    return Work(
        tiles_m=tiles_m,
        tiles_n=tiles_n,
        steps=np.ceil(np.ceil(p.k / c.k_step) / c.splits),
        turns=turns,
        groups=groups,
        subgroups=subgroups,
        threads_per_engine=threads,
        resident=resident,
        rounds=of_core // resident,
        left=of_core % resident,
        running=np.minimum(groups, on.cores * resident),
    )


def slm_bytes(on: Case, c: Columns) -> Column:
    """Return the shared local memory of a work-group: the buffers of staged operands, and the sums of parts of K."""
    rows = c.block_m * c.staged_a + c.block_n * on.problem.products * c.staged_b
    return rows * c.block_k * on.problem.dtype_a.nbytes * c.stages + sums_bytes(on, c)


def sums_bytes(on: Case, c: Columns) -> Column:
    """Return the bytes of the sums that sub-groups add in shared local memory."""
    of_tile = c.block_m * c.block_n * on.problem.products * on.problem.dtype_acc.nbytes
    return (c.k_subgroups > 1) * c.k_subgroups * of_tile
