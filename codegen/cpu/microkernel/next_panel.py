"""Share of the next panel of B that a tile prefetches while it multiplies.

Panels are read once from memory or the third-level cache, then by all rows of a block. They lie on many pages, at
whose ends the hardware stops to prefetch. A panel that is copied just before its use is prefetched where it is copied
from.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.workspace import block_tiles_m, blocks_in_order, most_tiles_m, rounds
from codegen.cpu.emit.writer import Function, Value
from codegen.cpu.nest.partition import Range
from codegen.cpu.nest.plan import LINE, Plan
from codegen.cpu.pack.packer import Packer, packer_of_b
from codegen.xe.rules.sizes import ceil_div

AHEAD = "%ahead"
"""Parameter of a tile's function: the first address of its share."""
_NEAR_BYTES = 32 * 1024  # of the first-level cache


@dataclass(frozen=True, slots=True)
class Lines:
    """Cache lines that a round of a loop over K prefetches: at `offsets` from an address that grows by `step_bytes`.

    With shorter steps than a line, each round that is in the same line takes rows `apart` bytes from those of the one
    before; steps that are no power of two take some rows twice.
    """

    offsets: tuple[int, ...]
    step_bytes: int
    apart: int = 0

    @property
    def turns(self) -> int:
        """Number of rounds in the same line that take different rows."""
        return max(1, LINE // self.step_bytes) if self.apart else 1

    def begin(self, f: Function, address: str) -> str:
        """Return the address that a round's `offsets` are from."""
        if self.turns == 1:
            return address
        within = f.op(f"and i64 {f.op(f'ptrtoint ptr {address} to i64')}, {LINE - self.step_bytes}")
        return f.at(address, f.mul(within, self.apart // self.step_bytes))


def lines_along(rows: int, pitch_bytes: int, step_bytes: int) -> Lines:
    """Return the lines of at least so many rows that rounds prefetch from their beginning on, `step_bytes` each."""
    each = ceil_div(rows, max(1, LINE // step_bytes))
    offsets = (n * pitch_bytes + line for n in range(each) for line in range(0, step_bytes, LINE))
    return Lines(tuple(offsets), step_bytes, each * pitch_bytes)


@dataclass(frozen=True, slots=True)
class NextPanel:
    """Shares of the next panel that tiles prefetch.

    Packed, it is `distance` bytes from this one; in memory, it is that of the next block of the o loops `loops`, the
    outer one first. The tiles of a block have `shares` of `share_bytes` each; `beside`: parts of a share, each its own
    tile's, that begin `beside_bytes` apart.
    """

    lines: Lines
    share_bytes: int
    shares: int
    distance: int = 0
    loops: tuple[str, ...] = ()
    beside: int = 1
    beside_bytes: int = 0

    @property
    def in_memory(self) -> bool:
        """Return whether the panel is prefetched where it is copied from, else where it is packed."""
        return bool(self.loops)

    def begin(self, f: Function, following: str, tile: Value) -> str:
        """Return the first address of the share of a tile, by its number along M in the block, in the next panel."""
        share = f.min(f.div(tile, self.beside), self.shares - 1)
        part = f.mul(f.rem(tile, self.beside), self.beside_bytes)
        return f.at(following, f.add(f.mul(share, self.share_bytes), part))


def next_block(
    f: Function,
    loops: tuple[str, ...],
    begin: Mapping[str, Value],
    steps: Mapping[str, int],
    ranges: Mapping[str, Range],
) -> dict[str, Value]:
    """Return where the block after one that begins at `begin` does, in loops in `steps` over `ranges`, the outer one
    first; after the last block that is the first one.
    """
    following, goes_on = dict(begin), "true"
    for along in reversed(loops):
        after = f.add(begin[along], steps[along])
        ends = f.compare("sge", after, ranges[along].high)
        moved = f.op(f"select i1 {ends}, i64 {ranges[along].low}, i64 {after}")
        following[along] = f.op(f"select i1 {goes_on}, i64 {moved}, i64 {begin[along]}")
        goes_on = f.op(f"and i1 {goes_on}, {ends}")
    return following


def next_panel(plan: Plan) -> NextPanel | None:
    """Return what tiles prefetch of the next panel of B.

    None if B is not packed, or of experts; and of panels copied just before their use, if there is one block, of gates,
    if the second-level cache has no room for what is prefetched, or if tile registers are loaded from there too.
    """
    if plan.problem.experts is not None or _rounds(plan) == 0:
        return None
    match plan.packs_b:
        case Packing.WHOLE | Packing.BEFOREHAND:
            return _packed(plan)
        case Packing.BLOCK:
            return _in_memory(plan)
        case _:
            return None


def _rounds(plan: Plan) -> int:
    return min(plan.block.k, plan.problem.k) // plan.config.matmul.innermost.k


def _tiles(plan: Plan) -> int:
    return min(block_tiles_m(plan), most_tiles_m(plan))


def _packed(plan: Plan) -> NextPanel:
    nbytes, count, tiles = plan.panel_bytes_b(min(plan.block.k, plan.problem.k)), _rounds(plan), _tiles(plan)
    each = ceil_div(ceil_div(nbytes, LINE), tiles * count)
    # One tile reads all of the panel by itself: some of it may be prefetched just before.
    distance = nbytes if tiles > 1 else min(nbytes, _NEAR_BYTES)
    lines = Lines(tuple(n * LINE for n in range(each)), each * LINE)
    return NextPanel(lines, count * each * LINE, tiles, distance)


def _in_memory(plan: Plan) -> NextPanel | None:
    loops = tuple(along for along in blocks_in_order(plan) if rounds(plan, along) > 1)
    if loops[-1:] == ("m",):  # blocks over M use the same panel
        loops = loops[:-1]
    packer = packer_of_b(plan)
    if not (set(loops) - {"m"} and packer.has_room_for_next) or _loads_wait_for_rows(plan, packer):
        return None
    if plan.problem.products > 1 or plan.config.matmul.innermost.k < packer.unit_k:
        return None
    return (_of_columns if packer.along_k else _of_rows)(plan, packer, loops)


def _loads_wait_for_rows(plan: Plan, packer: Packer) -> bool:
    """Return whether tile registers are loaded from the second level: through the same buffers as prefetches, which
    rows of many pages keep busy for long.
    """
    depth, lines = min(plan.block.k, plan.problem.k), min(plan.block.m, plan.problem.m) + plan.nr
    nbytes = plan.packed_bytes * lines * depth
    return plan.isa is Isa.AMX and not packer.along_k and nbytes > _NEAR_BYTES


def _of_columns(plan: Plan, packer: Packer, loops: tuple[str, ...]) -> NextPanel:
    """Return shares of columns that are stored [N, K]."""
    pitch, step = packer.pitch_bytes, plan.config.matmul.innermost.k // packer.unit_k * packer.unit_bytes
    lines = lines_along(ceil_div(plan.nr, _tiles(plan)), pitch, step)
    columns = lines.apart // pitch * lines.turns
    return NextPanel(lines, columns * pitch, ceil_div(plan.nr, columns), loops=loops)


def _of_rows(plan: Plan, packer: Packer, loops: tuple[str, ...]) -> NextPanel:
    """Return shares of pieces of rows that are stored [K, N]: so many rows a round, or a part of the lines of each."""
    count, pitch, nbytes = _rounds(plan), packer.pitch_bytes, plan.nr * packer.unit_bytes
    depth, across = ceil_div(min(plan.block.k, plan.problem.k), packer.unit_k), ceil_div(nbytes, LINE)
    each = min(across, ceil_div(depth * across, _tiles(plan) * count))
    part = next(lines for lines in range(each, across + 1) if across % lines == 0)
    rows = ceil_div(depth, _tiles(plan) // (across // part) * count)
    # From the last byte backwards: the first line may be that of the last bytes of this panel.
    last = nbytes - 1 - (across - 1) * LINE
    offsets = tuple(row * pitch + last + line * LINE for row in range(rows) for line in range(part))
    return NextPanel(
        Lines(offsets, rows * pitch), count * rows * pitch, ceil_div(depth, count * rows), loops=loops,
        beside=across // part, beside_bytes=part * LINE,
    )  # fmt: skip
