"""Configurations as columns: one array for each number that the model uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen import GemmProblem, LoopOrder, SlmOperands, SplitK, WorkspaceOperands, XeConfig
from codegen.problem.experts import row_tiles
from tuner.space.space import (
    Axis,
    Space,
)
from tuner.space.values import Value
from tuner.space.xe.axes import Point

Column = NDArray[np.float64]

_IN_A = tuple(which for which in WorkspaceOperands if which.has_a)
_IN_B = tuple(which for which in WorkspaceOperands if which.has_b)
_A, _B = (SlmOperands.A, SlmOperands.BOTH), (SlmOperands.B, SlmOperands.BOTH)


@dataclass(frozen=True, slots=True)
class Columns:
    """Configurations of one problem, each an index into all arrays; booleans are 1 or 0.

    `groups_m` and `groups_n` are work-groups over C, `splits` parts of K. `along_n` is true if neighbouring
    work-groups walk along N, `tiles_along_n` if the tiles of one work-group do. `stages` are buffers of shared
    local memory. `block_k` is the K step of a sub-group, `k_subgroups` of which multiply parts of a work-group's.
    """

    block_m: Column
    block_n: Column
    block_k: Column
    sg_rows: Column
    sg_columns: Column
    load_m: Column
    load_n: Column
    load_k: Column
    grf: Column
    prefetch: Column
    prefetch_l2: Column
    staged_a: Column
    staged_b: Column
    stages: Column
    barrier_every: Column
    pipelined: Column
    k_unroll: Column
    raster_group: Column
    along_n: Column
    tiles_along_n: Column
    groups_m: Column
    groups_n: Column
    splits: Column
    partial_sums: Column
    atomic: Column
    k_subgroups: Column
    workspace_a: Column
    workspace_b: Column

    def __len__(self) -> int:
        return len(self.block_m)

    @property
    def k_step(self) -> Column:
        """Elements of K that a work-group multiplies in one step."""
        return self.block_k * self.k_subgroups

    @property
    def subgroups(self) -> Column:
        """Sub-groups of a work-group."""
        return self.sg_rows * self.sg_columns * self.k_subgroups

    def at(self, index: "int | slice | NDArray[np.intp]") -> "Columns":
        """Return the configuration at an index, or those of a slice or of indices."""
        places = slice(index, index + 1) if isinstance(index, int) else index
        return Columns(*(getattr(self, f.name)[places] for f in fields(self)))


def columns_of(configs: Sequence[XeConfig]) -> Columns:
    """Return the columns of configurations."""
    rows = np.array([_row(config) for config in configs], dtype=np.float64).reshape(-1, len(fields(Columns)))
    return Columns(*np.ascontiguousarray(rows.T))


def columns_of_axes(problem: GemmProblem, axes: Mapping[str, ArrayLike]) -> Columns:
    """Return the columns of values on the axes of a space of this problem, by name; a missing axis takes its
    simplest value.

    Values of `slm`, `order` and `split_k` are those of SlmOperands, LoopOrder and SplitK. Tiles per work-group
    are `turns_m` and `turns_n`.
    """
    values = {name: np.asarray(column) for name, column in axes.items()}
    length = len(values["block_m"])

    def number(name: str, plain: float = 0.0) -> Column:
        return values[name].astype(np.float64) if name in values else np.full(length, plain)

    def among(name: str, plain: str, *wanted: str) -> Column:
        column = values.get(name)
        if column is None:
            return np.full(length, plain in wanted)
        return np.logical_or.reduce([column == value for value in wanted]).astype(np.float64)

    block_m, block_n = number("block_m"), number("block_n")
    orders = {flag: [o.value for o in LoopOrder if getattr(o, flag)] for flag in ("walks_along_n", "tiles_along_n")}
    return Columns(
        block_m=block_m,
        block_n=block_n,
        block_k=number("block_k"),
        sg_rows=number("sg_rows"),
        sg_columns=number("sg_columns"),
        load_m=number("load_m"),
        load_n=number("load_n"),
        load_k=number("load_k"),
        grf=number("grf"),
        prefetch=number("prefetch"),
        prefetch_l2=number("prefetch_l2"),
        staged_a=among("slm", SlmOperands.NONE, *_A),
        staged_b=among("slm", SlmOperands.NONE, *_B),
        stages=number("slm_stages"),
        barrier_every=number("barrier_every"),
        pipelined=number("pipelined"),
        k_unroll=number("k_unroll", 1),
        raster_group=number("raster_group", 1),
        along_n=among("order", LoopOrder.M_OUTER, *orders["walks_along_n"]),
        tiles_along_n=among("order", LoopOrder.M_OUTER, *orders["tiles_along_n"]),
        groups_m=np.ceil(tiles_over_m(problem, block_m) / number("turns_m", 1)),
        groups_n=np.ceil(np.ceil(problem.n / block_n) / number("turns_n", 1)),
        splits=number("splits", 1),
        partial_sums=among("split_k", SplitK.NONE, SplitK.PARTIAL_SUMS),
        atomic=among("split_k", SplitK.NONE, SplitK.ATOMIC),
        k_subgroups=number("k_subgroups", 1),
        workspace_a=among("workspace", WorkspaceOperands.NONE, *_IN_A),
        workspace_b=among("workspace", WorkspaceOperands.NONE, *_IN_B),
    )


def tiles_over_m(problem: GemmProblem, block_m: Column) -> Column:
    """Return the rows of tiles, of all experts."""
    if problem.experts is None:
        return np.ceil(problem.m / block_m)
    heights, place = np.unique(block_m, return_inverse=True)
    return np.array([row_tiles(problem.rows_of_experts, int(height)) for height in heights], np.float64)[place]


def columns_of_space(problem: GemmProblem, space: Space[XeConfig]) -> Columns:
    """Return the columns of all points of a space of this problem, in their order."""
    values = {
        name: _values(axis)[space.points[:, i]]
        for i, (name, axis) in enumerate(zip(Point._fields, space.axes, strict=True))
    }
    return columns_of_axes(problem, values)


def _values(axis: Axis) -> NDArray[np.generic]:
    values: tuple[Value, ...] = axis.values
    return np.array(values)


def _row(config: XeConfig) -> tuple[float, ...]:
    matmul, s = config.matmul, config.strategy
    block, load, threads = matmul.block, matmul.innermost, matmul.threads
    return (
        *(block.m, block.n, block.k),
        *s.sg_layout,
        *(load.m, load.n, load.k),
        s.grf_mode,
        *(s.prefetch.distance, s.prefetch.l2_distance),
        *(s.slm in _A, s.slm in _B, s.slm_stages),
        *(s.barrier_every, s.pipelined_registers, s.k_unroll, s.raster_group),
        *(matmul.loop_order.walks_along_n, matmul.loop_order.tiles_along_n),
        *(threads.m, threads.n, threads.k),
        *(s.split_k is SplitK.PARTIAL_SUMS, s.split_k is SplitK.ATOMIC, s.k_subgroups),
        *(s.workspace.has_a, s.workspace.has_b),
    )
