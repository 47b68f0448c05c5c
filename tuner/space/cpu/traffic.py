"""Bytes that a configuration moves into each cache of a CPU, estimated from its loops.

An operand is reused by every loop that does not run along it. It is still in a cache if all data that one
round of such a loop touches fits there; else the loop reloads the operand in every round. So each operand is
loaded as often as the product of the rounds of those loops. Assumed: caches keep the most recently used data,
fully associative, and all threads have as much to do as the busiest; threads that take over pieces of others
load more than is counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from codegen import CpuConfig, GemmProblem, Packing
from codegen.cpu.nest.plan import (
    SUM_BYTES,
    Plan,
)
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec

_BATCH = "batch"
_BLOCK_LOOPS = 5  # those over pieces, matrices and blocks, outside of those over tiles


@dataclass(frozen=True, slots=True)
class Level:
    """A cache: the bytes available to one thread, and the number of threads that load the same data into it."""

    name: str
    nbytes: int
    sharers: int = 1


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes loaded into a cache, over all threads: of A, of B, of C with its accumulators, and of packing them."""

    level: Level
    a: int
    b: int
    c: int
    packing: int

    @property
    def total(self) -> int:
        """Sum of all."""
        return self.a + self.b + self.c + self.packing


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a thread's nest: its dimension, its rounds, and the elements that all of these cover."""

    dim: str
    rounds: int
    reach: int


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of the busiest thread around a call of the micro-kernel, outermost first, and the extent of a call."""

    loops: tuple[Loop, ...]
    call: dict[str, int]

    def covered(self, place: int, dim: str) -> int:
        """Return the elements along a dimension that one round of the loop at a place covers."""
        return max((loop.reach for loop in self.loops[place + 1 :] if loop.dim == dim), default=self.call[dim])


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Access of a thread to a matrix: the dimensions it runs along, and bytes of an element as it is read."""

    dims: frozenset[str]
    nbytes: float

    def touched(self, nest: Nest, place: int) -> int:
        """Return the bytes touched in one round of the loop at a place; -1 is outside of all loops."""
        return int(prod(nest.covered(place, dim) for dim in self.dims) * self.nbytes)


@dataclass(frozen=True, slots=True)
class _View:
    """A nest and the matrices that it touches, for a cache of a given size."""

    nest: Nest
    matrices: tuple[_Matrix, ...]
    cache_bytes: int

    def rounds(self, matrix: _Matrix, places: range) -> int:
        """Return how often loops at some places that do not run along a matrix load it."""
        return prod(
            loop.rounds
            for place, loop in enumerate(self.nest.loops)
            if place in places and loop.dim not in matrix.dims and self._touched(place) > self.cache_bytes
        )

    def _touched(self, place: int) -> int:
        return sum(matrix.touched(self.nest, place) for matrix in self.matrices)


def traffic(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> tuple[Traffic, ...]:
    """Return the traffic into each cache whose size is known, the nearest first; memory is behind the last."""
    plan = Plan(problem, config, spec.isa or ())
    return tuple(_into(level, plan) for level in levels_of(config, spec))


def levels_of(config: CpuConfig, spec: DeviceSpec) -> Iterator[Level]:
    """Yield the caches of a CPU for one of a configuration's threads."""
    for name, nbytes, shared_by in (
        ("L1", spec.l1_bytes, 1),
        ("L2", spec.l2_bytes, spec.cores_per_l2 or 1),
        ("L3", spec.l3_bytes, spec.cores_per_l3 or spec.cores or 1),
    ):
        if nbytes:
            sharers = min(shared_by, config.thread_count)
            yield Level(name, nbytes // sharers, sharers)


def nest_of(plan: Plan) -> Nest:
    """Return the loops of the busiest thread: over pieces of its part, matrices, blocks and tiles."""
    p, c, cut = plan.problem, plan.config.matmul, plan.cut_along
    rows = ceil_div(plan.row_tiles, plan.parts_m)  # of tiles, in all matrices
    of_matrix = ceil_div(plan.row_tiles, p.read_experts) if p.experts is not None else plan.tiles_m
    matrices = ceil_div(rows, of_matrix)
    all_tiles, threads = (plan.row_tiles, c.threads.m) if cut == "m" else (plan.tiles_n, c.threads.n)
    of_thread = ceil_div(all_tiles, threads) * (plan.mr if cut == "m" else plan.nr)
    reach = {
        "m": min(p.m, min(rows, of_matrix) * plan.mr),
        "n": min(p.n, ceil_div(plan.tiles_n, plan.parts_n) * plan.nr),
        "k": min(p.k, ceil_div(plan.k_blocks, c.threads.k) * c.block.k),
    }
    block = {"m": min(c.block.m, reach["m"]), "n": min(c.block.n, reach["n"]), "k": min(c.block.k, reach["k"])}
    call = {"m": min(plan.mr, block["m"]), "n": min(plan.nr, block["n"]), "k": block["k"], _BATCH: 1}
    inner = ("n", "m") if c.loop_order.innermost_along_m else ("m", "n")
    return Nest(
        (
            Loop(cut, plan.pieces, min(p.m if cut == "m" else p.n, of_thread)),
            Loop(_BATCH, matrices, matrices),
            *(Loop(dim, ceil_div(reach[dim], block[dim]), reach[dim]) for dim in c.loop_order.blocks),
            *(Loop(dim, ceil_div(block[dim], call[dim]), block[dim]) for dim in inner),
        ),
        call,
    )


def _into(level: Level, plan: Plan) -> Traffic:
    p, nest, threads = plan.problem, nest_of(plan), plan.config.thread_count
    sources = (
        _Matrix(_dims("mk", p.batch_stride_a), p.dtype_a.nbytes),
        _Matrix(_dims("nk", p.batch_stride_b), p.products * p.dtype_b.bits / 8),
    )
    packings = plan.packs_a, plan.packs_b
    read = tuple(
        source if how is Packing.NONE else _Matrix(source.dims, plan.packed_bytes * products)
        for source, how, products in zip(sources, packings, (1, p.products), strict=True)
    )
    c = _Matrix(_dims("mn", 1), SUM_BYTES if plan.k_blocks > 1 else p.dtype_c.nbytes)
    view = _View(nest, (*read, c), level.nbytes)
    loaded, packing = [0, 0], 0
    whole = (
        p.m * p.k * p.dtype_a.nbytes * plan.matrices_a + plan.packed_a_bytes,
        p.columns_b * p.k * p.dtype_b.bits // 8 * plan.matrices_b + plan.packed_b_bytes,
    )
    for which, along in enumerate((plan.threads.n, plan.threads.m)):
        bringers = ceil_div(threads, min(level.sharers, along))  # threads that read the same data, one for each cache
        if packings[which] is Packing.BLOCK:
            panels, copied = _by_blocks(view, read[which], sources[which])
            loaded[which] = panels * threads
            packing += copied * bringers
        else:
            everywhere = range(len(nest.loops))
            loaded[which] = read[which].touched(nest, -1) * view.rounds(read[which], everywhere) * bringers
            packing += whole[which] if packings[which] is Packing.WHOLE else 0
    return Traffic(level, loaded[0], loaded[1], _sums(view, c, plan) * threads, packing)


def _by_blocks(view: _View, panels: _Matrix, source: _Matrix) -> tuple[int, int]:
    """Return the bytes of panels that are loaded again, and of data copied into them, where a thread packs
    block by block.

    The panels of a block replace those of the previous block in the same memory: if they fit, they stay in the cache.
    """
    nest, blocks = view.nest, range(_BLOCK_LOOPS)
    deepest = max(place for place in blocks if nest.loops[place].dim in source.dims)
    opened = prod(loop.rounds for loop in nest.loops[:deepest] if loop.dim not in source.dims)
    copied = source.touched(nest, -1) * view.rounds(source, range(deepest))
    a_block = panels.touched(nest, _BLOCK_LOOPS - 1)
    if a_block <= view.cache_bytes:
        return 0, copied
    inside = view.rounds(panels, range(_BLOCK_LOOPS, len(nest.loops)))
    return panels.touched(nest, -1) * opened * (1 + inside), copied


def _sums(view: _View, sums: _Matrix, plan: Plan) -> int:
    """Return the bytes of C, of accumulators between blocks of K, and of partial sums of threads along K."""
    rounds, elements = view.rounds(sums, range(len(view.nest.loops))), int(sums.touched(view.nest, -1) / sums.nbytes)
    waiting = 2 * (rounds - 1) * SUM_BYTES
    left = 2 * SUM_BYTES if plan.threads.k > 1 else 0
    return elements * (waiting + left + plan.problem.dtype_c.nbytes)


def _dims(along: str, batch_stride: int | None) -> frozenset[str]:
    """Return the dimensions that a matrix runs along; without the batch if it is shared."""
    return frozenset((*along, *([] if batch_stride == 0 else [_BATCH])))
