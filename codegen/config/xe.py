"""Configurations of Xe kernels: the nine numbers and loop order, and the strategy of an Intel GPU."""

from dataclasses import dataclass, field
from enum import StrEnum

from codegen.config.matmul import LoopOrder, MatmulConfig, check_positive
from codegen.errors import InvalidConfig
from codegen.serialization import content_hash

XE_ORDERS = (LoopOrder.M_OUTER, LoopOrder.N_OUTER, LoopOrder.M_OUTER_N_FIRST, LoopOrder.N_OUTER_N_FIRST)


class PrefetchLevels(StrEnum):
    """Cache levels that are prefetched into."""

    NONE = "none"
    L1 = "l1"
    L2_L1 = "l2_l1"


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Prefetch of A and B into caches, shared by all sub-groups of a work-group.

    `distance` is K steps ahead into L1, `l2_distance` those into L2 before that. `layout_a` and `layout_b` are rows and
    columns of sub-groups that share a tile's prefetch; None leaves the choice to the builder. `hints` says on every
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
                check_positive("prefetch layout", number)


class SlmOperands(StrEnum):
    """Operands that are staged through shared local memory."""

    NONE = "none"
    A = "a"
    B = "b"
    BOTH = "both"


class WorkspaceOperands(StrEnum):
    """Operands that other kernels write to a workspace for `gemm`: copied for block messages, or weights decoded."""

    NONE = "none"
    A = "a"
    B = "b"
    BOTH = "both"

    @classmethod
    def of(cls, a: bool, b: bool) -> "WorkspaceOperands":
        """Return the member for A, B, both or none."""
        return {(True, False): cls.A, (False, True): cls.B, (True, True): cls.BOTH}.get((a, b), cls.NONE)

    @property
    def has_a(self) -> bool:
        """True if A is prepared."""
        return self in (WorkspaceOperands.A, WorkspaceOperands.BOTH)

    @property
    def has_b(self) -> bool:
        """True if B is prepared."""
        return self in (WorkspaceOperands.B, WorkspaceOperands.BOTH)


class SplitK(StrEnum):
    """Combination of partial sums over K: stored and added by a second kernel, or added to C in memory."""

    NONE = "none"
    PARTIAL_SUMS = "partial_sums"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class XeStrategy:
    """Strategy of an Xe kernel: parameters beside the nine numbers.

    `sg_layout` is sub-groups of a work-group over M and N. `grf_mode` is registers per thread.
    `slm` says which operands all sub-groups copy to shared local memory together, in turn into `slm_stages` buffers.
    `barrier_every` is in K steps, 0 for none. `raster_group` is rows of tiles that the raster walks through together
    (columns where it walks along M), 1 for plain. `pipelined_registers` loads the next K step's operands during this
    one.
    `k_unroll` is K steps in one round of the loop. `k_subgroups` share a tile of C: each multiplies its part of every
    K step, `block` k deep, and the work-group adds their sums through shared local memory. `workspace` says which
    operands other kernels prepare first: copy for block messages, or decode if they are weights.
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
    k_subgroups: int = 1
    workspace: WorkspaceOperands = WorkspaceOperands.NONE

    def __post_init__(self) -> None:
        for rows_or_columns in self.sg_layout:
            check_positive("sg_layout", rows_or_columns)
        for name in ("raster_group", "k_unroll", "k_subgroups"):
            check_positive(name, getattr(self, name))
        for name in ("slm_stages", "barrier_every"):
            if getattr(self, name) < 0:
                raise InvalidConfig(name, f"expected a whole number of at least 0, got {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True)
class XeConfig:
    """One configuration: the nine numbers and one strategy."""

    matmul: MatmulConfig
    strategy: XeStrategy

    @property
    def subgroups(self) -> int:
        """Sub-groups of a work-group."""
        return self.strategy.sg_layout[0] * self.strategy.sg_layout[1] * self.strategy.k_subgroups

    @property
    def k_step(self) -> int:
        """Elements of K that a work-group multiplies in one step."""
        return self.matmul.block.k * self.strategy.k_subgroups

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
        """Return the nine numbers, and the parts of the strategy that differ from the defaults; the K of `threads`
        is the split.
        """
        m, s = self.matmul, self.strategy
        layout = (*s.sg_layout, *([s.k_subgroups] if s.k_subgroups > 1 else []))
        parts = [
            f"block {m.block} sg {'x'.join(map(str, layout))} load {m.innermost} threads {m.threads}",
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
        if s.workspace is not WorkspaceOperands.NONE:
            parts.append(f"workspace {s.workspace.value}")
        if s.pipelined_registers:
            parts.append("pipelined")
        if s.k_unroll != 1:
            parts.append(f"unroll {s.k_unroll}")
        return " ".join(parts)


def _prefetch_parts(prefetch: Prefetch) -> list[str]:
    """Return the parts that distinguish a prefetch from none."""
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
