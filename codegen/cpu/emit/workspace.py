"""Workspace of a kernel: layout of packed panels and sums that live between the operands and C."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.config.cpu import Packing
from codegen.cpu.nest.partition import largest_part
from codegen.cpu.nest.plan import (
    LINE,
    SUM_BYTES,
    Plan,
)
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
)
from codegen.xe.rules.sizes import ceil_div

_PAGE = 4096


def blocks_in_order(plan: Plan) -> tuple[str, ...]:
    """Return the o loops, outermost first; those of one round come first, so their packed panels live longest."""
    return tuple(sorted(plan.config.matmul.loop_order.blocks, key=lambda along: rounds(plan, along) > 1))


def rounds(plan: Plan, along: str) -> int:
    """Return the largest number of rounds of an o loop in any thread."""
    match along:
        case "m":
            return ceil_div(most_tiles_m(plan), block_tiles_m(plan))
        case "n":
            return ceil_div(most_tiles_n(plan), block_tiles_n(plan))
        case _:
            return largest_part(plan.k_blocks, plan.threads.k)


def most_tiles_m(plan: Plan) -> int:
    """Return the largest number of tiles over the rows of one matrix in a thread's part, or in a piece of it."""
    if plan.problem.experts is not None:  # all rows may be those of one expert
        return plan.tiles_m
    return min(largest_part(plan.problem.batch * plan.tiles_m, plan.parts_m), plan.tiles_m)


def most_tiles_n(plan: Plan) -> int:
    """Return the largest number of tiles over the columns in a thread's part, or in a piece of it."""
    return largest_part(plan.tiles_n, plan.parts_n)


def block_tiles_m(plan: Plan) -> int:
    """Return the tiles of a block over M."""
    return plan.block.m // plan.mr


def block_tiles_n(plan: Plan) -> int:
    """Return the tiles of a block over N."""
    return plan.block.n // plan.nr


def tile_bytes(plan: Plan) -> int:
    """Return the bytes of one tile of sums, whose last row is padded to whole vectors."""
    sums = (plan.mr - 1) * plan.width + ceil_div(plan.width, plan.lanes) * plan.lanes
    return ceil_div(sums * SUM_BYTES, LINE) * LINE


@dataclass(frozen=True, slots=True)
class SumsBuffer:
    """Tiles of sums stored by a thread between two K blocks, [m][n]; `whole_*`: of its range, else of one block."""

    tiles_m: int
    tiles_n: int
    whole_m: bool
    whole_n: bool


def sums_buffer(plan: Plan) -> SumsBuffer | None:
    """Return the tiles of sums that a thread stores; None if there is one K block, or threads over K store all."""
    if plan.threads.k > 1 or rounds(plan, "k") == 1:
        return None
    order = blocks_in_order(plan)
    inside = order[order.index("k") + 1 :]
    m, n = "m" in inside, "n" in inside
    return SumsBuffer(
        most_tiles_m(plan) if m else min(block_tiles_m(plan), most_tiles_m(plan)),
        most_tiles_n(plan) if n else min(block_tiles_n(plan), most_tiles_n(plan)),
        m,
        n,
    )


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the workspace; offsets and lengths in bytes."""

    name: str
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """Regions that all threads share, then those of each thread, `thread_bytes` apart from `threads_at` on."""

    shared: tuple[Region, ...]
    own: tuple[Region, ...]
    threads_at: int
    thread_bytes: int
    nbytes: int

    def offset(self, name: str) -> int:
        """Return the offset of a region; of a private region, relative to the thread's part.

        Raises:
            StopIteration: no such region.
        """
        return next(region.offset for region in (*self.shared, *self.own) if region.name == name)


PACKED_A, PACKED_B, PARTIALS, SUMS, BLOCK_A, BLOCK_B = "packed_A", "packed_B", "partials", "sums", "block_A", "block_B"


def workspace_of(plan: Plan) -> Workspace:
    """Return the workspace of a kernel; zero bytes if it needs none."""
    shared, shared_bytes = _laid_out(_shared(plan))
    own, own_bytes = _laid_out(_own(plan))
    threads_at = ceil_div(shared_bytes, _PAGE) * _PAGE if own else shared_bytes
    # An odd number of lines apart, so that no two threads write what the other's cache keeps in the same sets.
    thread_bytes = ceil_div(own_bytes, 2 * LINE) * 2 * LINE + LINE if own else 0
    return Workspace(shared, own, threads_at, thread_bytes, threads_at + thread_bytes * plan.config.thread_count)


def reduced(step: int) -> str:
    """Return the name of the region that holds the partial sums of a step of the epilogue."""
    return f"reduce_{step}"


def _shared(plan: Plan) -> Iterator[tuple[str, int]]:
    p = plan.problem
    if plan.packs_a is Packing.WHOLE:
        yield PACKED_A, plan.packed_a_bytes
    if plan.packs_b is Packing.WHOLE:
        yield PACKED_B, plan.packed_b_bytes
    tiles = p.batch * plan.tiles_m * plan.tiles_n
    if plan.threads.k > 1:
        yield PARTIALS, k_parts(plan) * tiles * tile_bytes(plan)
    for number, step in enumerate(p.epilogue):
        if step.kind is EpilogueKind.REDUCE:
            yield reduced(number), SUM_BYTES * tiles * (plan.mr if step.axis is Axis.ROW else plan.nr)


def k_parts(plan: Plan) -> int:
    """Return the number of threads over K that have a block of it."""
    return min(plan.threads.k, plan.k_blocks)


def _own(plan: Plan) -> Iterator[tuple[str, int]]:
    if plan.packs_a is Packing.BLOCK:
        yield BLOCK_A, min(block_tiles_m(plan), most_tiles_m(plan)) * plan.panel_bytes_a(plan.block.k)
    if plan.packs_b is Packing.BLOCK:
        yield BLOCK_B, min(block_tiles_n(plan), most_tiles_n(plan)) * plan.panel_bytes_b(plan.block.k)
    sums = sums_buffer(plan)
    if sums is not None:
        yield SUMS, sums.tiles_m * sums.tiles_n * tile_bytes(plan)


def _laid_out(sizes: Iterator[tuple[str, int]]) -> tuple[tuple[Region, ...], int]:
    regions, end = list[Region](), 0
    for name, nbytes in sizes:
        regions.append(Region(name, end, nbytes))
        end = ceil_div(end + nbytes, LINE) * LINE
    return tuple(regions), end
