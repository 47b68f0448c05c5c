"""Share of the next panel of B that a tile prefetches while it multiplies.

Panels are read once from memory or the third-level cache, then by all rows of a block. They lie on many pages, at
whose ends the hardware stops to prefetch.
"""

from dataclasses import dataclass

from codegen.config.cpu import Packing
from codegen.cpu.emit.workspace import block_tiles_m, most_tiles_m
from codegen.cpu.nest.plan import LINE, Plan
from codegen.xe.rules.sizes import ceil_div

AHEAD = "%ahead"
"""Parameter of a tile's function: the first cache line of its share."""
_NEAR_BYTES = 32 * 1024


@dataclass(frozen=True, slots=True)
class NextPanel:
    """Cache lines that a tile prefetches in each round of its loop over K, and the bytes of its share.

    `distance` is from what the tile reads to what it prefetches, in bytes.
    """

    lines: int
    share_bytes: int
    distance: int


def next_panel(plan: Plan) -> NextPanel | None:
    """Return what tiles prefetch of the next panel of B; None if panels are copied just before their use."""
    rounds = min(plan.block.k, plan.problem.k) // plan.config.matmul.innermost.k
    if plan.packs_b not in (Packing.WHOLE, Packing.BEFOREHAND) or plan.problem.experts is not None or rounds == 0:
        return None
    nbytes, tiles = plan.panel_bytes_b(plan.block.k), min(block_tiles_m(plan), most_tiles_m(plan))
    lines = ceil_div(ceil_div(nbytes, LINE), tiles * rounds)
    # One tile reads all of the panel by itself: some of it may be prefetched just before.
    return NextPanel(lines, rounds * lines * LINE, nbytes if tiles > 1 else min(nbytes, _NEAR_BYTES))
