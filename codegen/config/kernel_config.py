"""How a GEMM is computed: the deep-tiled matmul's nine numbers and order, and what they do not say."""

from dataclasses import dataclass, field
from enum import StrEnum

from codegen.errors import InvalidConfig
from codegen.serialization import content_hash


@dataclass(frozen=True, slots=True)
class Extent:
    """Three positive numbers, one for each of M, N and K.

    Raises:
        InvalidConfig: a number below 1.
    """

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        for name in ("m", "n", "k"):
            _positive(name, getattr(self, name))

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


class LoopOrder(StrEnum):
    """Order of the p (parallel), o (block) and i (innermost) loops, outermost first.

    On Xe, the p loops are the raster of the work-groups: with `pm` before `pn`, neighbouring work-groups walk along N;
    with `pn` first, along M. The o loops are the tiles that one work-group computes in turn, where there are fewer
    work-groups than tiles. Only the orders of `XE_ORDERS` mean something there.

    On CPUs, the p loops number the threads, the o loops are a thread's walk over its blocks, and the i loops the walk
    over the tiles of one block.
    """

    M_OUTER = "pmpnpkomonokiminik"
    N_OUTER = "pnpmpkomonokiminik"
    M_OUTER_N_FIRST = "pmpnpkonomokiminik"
    N_OUTER_N_FIRST = "pnpmpkonomokiminik"
    PMPNPKOMONOKINIMIK = "pmpnpkomonokinimik"
    PMPNPKOMOKONIMINIK = "pmpnpkomokoniminik"
    PMPNPKOMOKONINIMIK = "pmpnpkomokoninimik"
    PMPNPKONOMOKINIMIK = "pmpnpkonomokinimik"
    PMPNPKONOKOMIMINIK = "pmpnpkonokomiminik"
    PMPNPKONOKOMINIMIK = "pmpnpkonokominimik"
    PMPNPKOKOMONIMINIK = "pmpnpkokomoniminik"
    PMPNPKOKOMONINIMIK = "pmpnpkokomoninimik"
    PMPNPKOKONOMIMINIK = "pmpnpkokonomiminik"
    PMPNPKOKONOMINIMIK = "pmpnpkokonominimik"
    PNPMPKOMONOKINIMIK = "pnpmpkomonokinimik"
    PNPMPKOMOKONIMINIK = "pnpmpkomokoniminik"
    PNPMPKOMOKONINIMIK = "pnpmpkomokoninimik"
    PNPMPKONOMOKINIMIK = "pnpmpkonomokinimik"
    PNPMPKONOKOMIMINIK = "pnpmpkonokomiminik"
    PNPMPKONOKOMINIMIK = "pnpmpkonokominimik"
    PNPMPKOKOMONIMINIK = "pnpmpkokomoniminik"
    PNPMPKOKOMONINIMIK = "pnpmpkokomoninimik"
    PNPMPKOKONOMIMINIK = "pnpmpkokonomiminik"
    PNPMPKOKONOMINIMIK = "pnpmpkokonominimik"

    @property
    def walks_along_n(self) -> bool:
        """Whether neighbouring work-groups or threads compute neighbouring columns."""
        return self.value.startswith("pmpn")

    @property
    def tiles_along_n(self) -> bool:
        """Whether the tiles that a work-group computes in turn follow each other along N."""
        return "omon" in self.value

    @property
    def blocks(self) -> tuple[str, str, str]:
        """Dimensions of the o loops, outermost first: "m", "n" and "k"."""
        return self.value[7], self.value[9], self.value[11]

    @property
    def innermost_along_m(self) -> bool:
        """Whether the tiles of a block that follow each other lie along M: the i loop over M is the inner one."""
        return "inim" in self.value


XE_ORDERS = (LoopOrder.M_OUTER, LoopOrder.N_OUTER, LoopOrder.M_OUTER_N_FIRST, LoopOrder.N_OUTER_N_FIRST)


@dataclass(frozen=True, slots=True)
class MatmulConfig:
    """The deep-tiled matmul's nine numbers and loop order.

    On Xe: `threads` are work-groups launched over M and N, which loop where C has more tiles, and the split of K;
    `block` is the work-group's tile and its K step, in elements; `innermost` is the block that one 2-D block load
    fetches: m x k of A and k x n of B, in elements. Source: DOC: deep-Tiled Matmul, "Config/Schedule".
    """

    threads: Extent
    block: Extent
    innermost: Extent
    loop_order: LoopOrder = LoopOrder.M_OUTER


class PrefetchLevels(StrEnum):
    """Which caches are prefetched into."""

    NONE = "none"
    L1 = "l1"
    L2_L1 = "l2_l1"


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Prefetch of A and B into caches, shared by all sub-groups of a work-group.

    `distance` is K steps ahead into L1, `l2_distance` those into L2 before that. `layout_a` and `layout_b` are rows and
    columns of sub-groups that share a tile's prefetch; None lets the builder deal it out. `hints` says on every
    prefetch which caches it is for. `payloads` keeps the address of a prefetch in registers from step to step, by
    built-ins of Intel's compiler that no extension documents.

    Raises:
        InvalidConfig: levels and distances that contradict each other.
    """

    levels: PrefetchLevels = PrefetchLevels.NONE
    distance: int = 0
    l2_distance: int = 0
    layout_a: tuple[int, int] | None = None
    layout_b: tuple[int, int] | None = None
    hints: bool = True
    payloads: bool = False

    def __post_init__(self) -> None:
        if self.distance < 0 or (self.levels is PrefetchLevels.NONE) != (self.distance == 0):
            raise InvalidConfig(
                "prefetch",
                f"levels none goes with distance 0 and only that, got {self.levels.value} and {self.distance}",
            )
        two_levels = self.levels is PrefetchLevels.L2_L1
        if two_levels != (self.l2_distance != 0) or (two_levels and self.l2_distance <= self.distance):
            raise InvalidConfig(
                "prefetch",
                f"levels l2_l1 go with an l2_distance beyond the distance, others with 0; got {self.levels.value}, "
                f"distance {self.distance} and l2_distance {self.l2_distance}",
            )
        for layout in (self.layout_a, self.layout_b):
            for number in layout or ():
                _positive("prefetch layout", number)


class SlmOperands(StrEnum):
    """Which operands are staged through shared local memory."""

    NONE = "none"
    A = "a"
    B = "b"
    BOTH = "both"


class SplitK(StrEnum):
    """How partial sums over K are combined: stored and added by a second kernel, or added to C in memory."""

    NONE = "none"
    PARTIAL_SUMS = "partial_sums"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class XeStrategy:
    """What the nine numbers do not say on an Xe GPU.

    `sg_layout` is sub-groups of a work-group over M and N. `grf_mode` is registers per thread.
    `slm` says which operands all sub-groups copy to shared local memory together, in turn into `slm_stages` buffers.
    `barrier_every` is in K steps, 0 for none. `raster_group` is rows of tiles that the raster walks through together
    (columns where it walks along M), 1 for plain. `pipelined_registers` loads the next K step's operands during this
    one.
    `k_unroll` is K steps in one round of the loop.
    """

    sg_layout: tuple[int, int]
    prefetch: Prefetch = field(default_factory=Prefetch)
    grf_mode: int = 256
    slm: SlmOperands = SlmOperands.NONE
    slm_stages: int = 0
    barrier_every: int = 0
    raster_group: int = 1
    split_k: SplitK = SplitK.NONE
    pipelined_registers: bool = False
    k_unroll: int = 1

    def __post_init__(self) -> None:
        for rows_or_columns in self.sg_layout:
            _positive("sg_layout", rows_or_columns)
        for name in ("raster_group", "k_unroll"):
            _positive(name, getattr(self, name))
        for name in ("slm_stages", "barrier_every"):
            if getattr(self, name) < 0:
                raise InvalidConfig(name, f"expected a whole number of at least 0, got {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """One configuration: the nine numbers and one strategy."""

    matmul: MatmulConfig
    strategy: XeStrategy

    @property
    def subgroups(self) -> int:
        """Sub-groups of a work-group."""
        return self.strategy.sg_layout[0] * self.strategy.sg_layout[1]

    @property
    def sg_m(self) -> int:
        """Rows of C that a sub-group owns."""
        return self.matmul.block.m // self.strategy.sg_layout[0]

    @property
    def sg_n(self) -> int:
        """Columns of C that a sub-group owns."""
        return self.matmul.block.n // self.strategy.sg_layout[1]

    @property
    def key(self) -> str:
        """Content hash of the canonical form."""
        return content_hash(self)

    def __str__(self) -> str:
        """The nine numbers, and of the strategy what differs from the plainest; the K of `threads` is the split."""
        m, s = self.matmul, self.strategy
        parts = [
            f"block {m.block} sg {s.sg_layout[0]}x{s.sg_layout[1]} load {m.innermost} threads {m.threads}",
            *_prefetch_parts(s.prefetch),
            f"grf {s.grf_mode}",
        ]
        raster, tiles = m.loop_order.value[:4], m.loop_order.value[6:10]
        parts += [name for name, plain in ((raster, "pmpn"), (tiles, "omon")) if name != plain]
        if s.slm is not SlmOperands.NONE or s.slm_stages:
            parts.append(f"slm {s.slm.value} by {s.slm_stages}")
        if s.barrier_every:
            parts.append(f"barrier {s.barrier_every}")
        if s.raster_group != 1:
            parts.append(f"raster {s.raster_group}")
        if s.split_k is not SplitK.NONE:
            parts.append(f"split {s.split_k.value}")
        if s.pipelined_registers:
            parts.append("pipelined")
        if s.k_unroll != 1:
            parts.append(f"unroll {s.k_unroll}")
        return " ".join(parts)


def _prefetch_parts(prefetch: Prefetch) -> list[str]:
    """What tells a prefetch from none."""
    if prefetch.levels is PrefetchLevels.NONE:
        return []
    parts = [f"prefetch {prefetch.distance}"]
    if prefetch.l2_distance:
        parts.append(f"l2 {prefetch.l2_distance}")
    for name, layout in (("pa", prefetch.layout_a), ("pb", prefetch.layout_b)):
        if layout is not None:
            parts.append(f"{name} {layout[0]}x{layout[1]}")
    if not prefetch.hints:
        parts.append("no hints")
    return parts


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidConfig(name, f"expected whole numbers of at least 1, got {value!r}")
