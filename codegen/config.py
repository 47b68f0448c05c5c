"""How a GEMM is computed: the deep-tiled matmul's nine numbers and order, and what they do not say."""

from dataclasses import dataclass, field
from enum import StrEnum

from codegen.canonical import content_hash
from codegen.errors import InvalidConfig


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

    On Xe, the p loops are the raster of the work-groups: with `pm` before `pn`, neighbouring
    work-groups walk along N; with `pn` first, along M.
    """

    M_OUTER = "pmpnpkomonokiminik"
    N_OUTER = "pnpmpkonomokiminik"


@dataclass(frozen=True, slots=True)
class MatmulConfig:
    """The deep-tiled matmul's nine numbers and loop order.

    On Xe: `threads` are work-groups launched over M and N and the split of K; `block` is the work-group's
    tile and its K step, in elements; `innermost` is the block that one 2-D block load fetches: m x k of A
    and k x n of B, in elements. Source: DOC: deep-Tiled Matmul, "Config/Schedule".
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
    """Prefetch of A and B into caches, `distance` K steps ahead, shared by all sub-groups of a work-group.

    Raises:
        InvalidConfig: levels without a distance, or a distance without levels.
    """

    levels: PrefetchLevels = PrefetchLevels.NONE
    distance: int = 0

    def __post_init__(self) -> None:
        if self.distance < 0 or (self.levels is PrefetchLevels.NONE) != (self.distance == 0):
            raise InvalidConfig(
                "prefetch",
                f"levels none goes with distance 0 and only that, got {self.levels.value} and {self.distance}",
            )


class SlmOperands(StrEnum):
    """Which operands are staged through shared local memory."""

    NONE = "none"
    A = "a"
    B = "b"
    BOTH = "both"


class SplitK(StrEnum):
    """How partial sums over K are combined."""

    NONE = "none"
    PARTIAL_SUMS = "partial_sums"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class XeStrategy:
    """What the nine numbers do not say on an Xe GPU.

    `sg_layout` is sub-groups of a work-group over M and N. `grf_mode` is registers per thread.
    `slm_stages` counts buffers. `barrier_every` is in K steps, 0 for none. `raster_group` is work-groups per
    group of the raster, 1 for plain. `pipelined_registers` loads the next K step's operands during this one.
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

    def __post_init__(self) -> None:
        for rows_or_columns in self.sg_layout:
            _positive("sg_layout", rows_or_columns)


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
        m, s = self.matmul, self.strategy
        return (
            f"block {m.block} sg {s.sg_layout[0]}x{s.sg_layout[1]} load {m.innermost} "
            f"prefetch {s.prefetch.distance} grf {s.grf_mode} {m.loop_order.value[:4]}"
        )


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidConfig(name, f"expected whole numbers of at least 1, got {value!r}")
