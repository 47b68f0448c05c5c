"""A and B of a K step: loads from memory or through shared local memory, and prefetches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, SSAValue

from codegen.config.xe import PrefetchLevels, SlmOperands, XeConfig
from codegen.problem.gemm import SCALE_B, ZERO_B, GemmProblem
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.tiles import (
    Shared,
    Tiles,
)
from codegen.xe.build.weights import GroupRow, Weights
from codegen.xe.build.writer import (
    Writer,
    named,
)
from codegen.xe.dialects.cache_hint import (
    CachePolicy,
    TileCacheHint,
)
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.xetile import (
    InitTileOp,
    LoadTileOp,
    PrefetchTileOp,
    StoreTileOp,
    TileTraits,
    TileType,
)
from codegen.xe.dialects.xetile.tile_attr import SHARED_LOCAL_MEMORY

Columns = Callable[[Writer, Index], Index]
"""Function of the first column of a tile of C."""

_CACHED, _UNCACHED = TileCacheHint(CachePolicy.CACHED), TileCacheHint(CachePolicy.UNCACHED)
_Hints = Mapping[str, Attribute]
_BOTH_CACHES: _Hints = {"l1_hint": _CACHED, "l2_hint": _CACHED}
_FAR_CACHE: _Hints = {"l1_hint": _UNCACHED, "l2_hint": _CACHED}
_STAGES_A = (SlmOperands.A, SlmOperands.BOTH)
_STAGES_B = (SlmOperands.B, SlmOperands.BOTH)


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a work-group's tile of C: matrix of the batch, row, column and range of K, in elements."""

    batch: Index
    row: Index
    column: Index
    k_first: Index
    k_end: Index


@dataclass(frozen=True, slots=True)
class Source:
    """One operand: the tile of a K step as it is loaded, copied and prefetched.

    `ring` holds, stacked along rows, the tiles of `stages` K steps in shared local memory; None without
    staging. `columns` returns the first column of B's tile for that of C's; None for A. `part` is the number of the
    part of a K step that this sub-group multiplies. `weights` converts what is loaded to what is multiplied; `packed`
    elements along K are one that is stored.
    """

    matrix: Matrix
    columns: Columns | None
    used: Shared
    copied: Shared
    ahead: Shared
    k_step: int
    ring: SSAValue | None
    stages: int
    part: Index
    weights: Weights | None = None
    packed: int = 1

    def multiplied(self, w: Writer, value: SSAValue, k: Index, row: GroupRow | None) -> SSAValue:
        """Return the operand of the K step that begins at `k`, as it is multiplied, from what `load` returned, and the
        row of its group.
        """
        return value if self.weights is None else self.weights.converted(w, value, self._begin(w, k, self.used), row)

    def group_row(self, w: Writer, place: Place, k: Index) -> GroupRow | None:
        """Load what the elements of the group of the K step that begins at `k` share; None where nothing is scaled."""
        if self.weights is None or self.columns is None:
            return None
        column = self.columns(w, place.column)
        return self.weights.group_row(w, place.batch, self._begin(w, k, self.used), column)

    def load(self, w: Writer, place: Place, k: Index) -> SSAValue:
        """Load from memory the operand of the K step that begins at `k`."""
        return self._load(w, place, k, self.used)

    def load_copy(self, w: Writer, place: Place, k: Index) -> SSAValue:
        """Load the same tile, distributed as it is copied."""
        return self._load(w, place, k, self.copied)

    def put(self, w: Writer, value: SSAValue, slot: Index) -> None:
        """Copy a value into a slot of the ring."""
        w.insert(StoreTileOp(value, self._slot(w, slot, self.copied)))

    def get(self, w: Writer, slot: Index) -> SSAValue:
        """Load the operand from a slot of the ring."""
        return named(w.insert(LoadTileOp(self._slot(w, slot, self.used))).value, self.matrix.name.lower())

    def fetch(self, w: Writer, place: Place, k: Index, hints: _Hints) -> None:
        """Prefetch the tile of the K step that begins at `k` into caches."""
        w.insert(PrefetchTileOp(self._tile(w, place, k, self.ahead), hints))

    def _load(self, w: Writer, place: Place, k: Index, shared: Shared) -> SSAValue:
        return named(w.insert(LoadTileOp(self._tile(w, place, k, shared))).value, self.matrix.name.lower())

    def _tile(self, w: Writer, place: Place, k: Index, shared: Shared) -> SSAValue[TileType]:
        k = w.div(self._begin(w, k, shared), self.packed)
        at = (place.row, k) if self.columns is None else (k, self.columns(w, place.column))
        return self.matrix.at(w, place.batch, *at, shared.shape, shared.wg_map)

    def _begin(self, w: Writer, k: Index, shared: Shared) -> Index:
        """Return the first element of K of this sub-group's part of the K step that begins at `k`."""
        length = shared.shape[1] if self.columns is None else shared.shape[0] * self.packed
        return w.add(k, w.mul(self.part, length))

    def _slot(self, w: Writer, slot: Index, shared: Shared) -> SSAValue[TileType]:
        assert self.ring is not None
        traits = TileTraits(wg_map=shared.wg_map, memory_space=SHARED_LOCAL_MEMORY)
        tile = TileType(shared.shape, self.matrix.element, traits)
        return w.insert(InitTileOp(self.ring, (w.mul(slot, shared.shape[0]), 0), tile)).tile


def sources(
    w: Writer,
    problem: GemmProblem,
    config: XeConfig,
    matrices: Mapping[str, Matrix],
    tiles: Tiles,
    part: Index,
    columns: Sequence[Columns],
) -> tuple[Source, ...]:
    """Return A and the tiles of B of a kernel, one for each of `columns`; their rings are allocated once, also for
    several tiles of C.
    """
    a, b, k_step, s = matrices["A"], matrices["B"], config.k_step, config.strategy

    def ring(matrix: Matrix, used: Shared, staged: Sequence[SlmOperands]) -> SSAValue | None:
        return _ring(w, matrix, used, s.slm_stages) if s.slm in staged else None

    ring_a, rings_b = ring(a, tiles.a, _STAGES_A), [ring(b, tiles.b, _STAGES_B) for _ in columns]
    weights = None
    if problem.has_weights:
        # A launch of other sizes has another K; only a static one has a padded A, whose columns are more.
        k = a.columns if problem.dynamic else problem.k if problem.k % k_step else None
        weights = Weights(problem, tiles.b, k, matrices.get(SCALE_B), matrices.get(ZERO_B))
    of_b = tiles.stored_b, tiles.copied_b, tiles.ahead_b
    packed = problem.dtype_b.packed
    return (
        Source(a, None, tiles.a, tiles.copied_a, tiles.ahead_a, k_step, ring_a, s.slm_stages, part),
        *(
            Source(b, at, *of_b, k_step, ring_b, s.slm_stages, part, weights, packed)
            for at, ring_b in zip(columns, rings_b, strict=True)
        ),
    )


def fill(w: Writer, staged: Sequence[Source], place: Place, block2d: bool) -> None:
    """Copy the first K steps into the rings: all but one buffer, which the first step fills.

    All block messages come first: of one between two copies by the same sub-groups, Intel's compiler may lose the
    column. Loads by lanes are many instructions and registers: those of several steps are a loop, and not together.
    """
    steps = max((source.stages - 1 for source in staged), default=0)
    if steps > 1 and not any(block2d and not source.matrix.by_lanes for source in staged):
        w.for_each(steps, 1, lambda inner, stage: _fill(inner, staged, place, [stage]))
    else:
        _fill(w, staged, place, range(steps))


def _fill(w: Writer, staged: Sequence[Source], place: Place, stages: Sequence[Index]) -> None:
    steps = [(source, stage) for source in staged for stage in stages]
    copies = [source.load_copy(w, place, w.add(place.k_first, w.mul(stage, source.k_step))) for source, stage in steps]
    for (source, stage), copy in zip(steps, copies, strict=True):
        source.put(w, copy, stage)


def fetch_first(w: Writer, config: XeConfig, ab: Sequence[Source], place: Place) -> None:
    """Prefetch what the loop does not: the K steps before the prefetch distance, one round at a time."""
    prefetch = config.strategy.prefetch
    for source, hints, distance in _fetches(config, ab):
        begin = prefetch.distance if distance == prefetch.l2_distance else 0
        for step in range(begin, distance, config.strategy.k_unroll):
            k = w.add(place.k_first, (step + _copied_steps(source)) * source.k_step)
            source.fetch(w, place, k, hints)


def fetch_ahead(w: Writer, config: XeConfig, ab: Sequence[Source], place: Place, k: Index) -> None:
    """Prefetch the round that lies the prefetch distance after the one that begins at `k`."""
    for source, hints, distance in _fetches(config, ab):
        source.fetch(w, place, w.add(k, (distance + _copied_steps(source)) * source.k_step), hints)


def _fetches(config: XeConfig, ab: Sequence[Source]) -> list[tuple[Source, _Hints, int]]:
    """Return the sources to prefetch, with hints and distance in K steps; operands that lanes access have none."""
    prefetch = config.strategy.prefetch
    fetched = [source for source in ab if not source.matrix.by_lanes]
    near = _BOTH_CACHES if prefetch.hints else {}
    match prefetch.levels:
        case PrefetchLevels.NONE:
            return []
        case PrefetchLevels.L1:
            return [(source, near, prefetch.distance) for source in fetched]
        case PrefetchLevels.L2_L1:
            far = [(source, _FAR_CACHE, prefetch.l2_distance) for source in fetched]
            return [*far, *((source, near, prefetch.distance) for source in fetched)]


def _copied_steps(source: Source) -> int:
    """Return the number of K steps by which copies are ahead of the multiply."""
    return 0 if source.ring is None else source.stages - 1


def _ring(w: Writer, matrix: Matrix, used: Shared, stages: int) -> SSAValue:
    rows, columns = used.shape
    space = IntegerAttr(SHARED_LOCAL_MEMORY, i32)
    ring = w.insert(AllocaOp.get(matrix.element, shape=(stages * rows, columns), memory_space=space)).memref
    return named(ring, f"{matrix.name.lower()}_ring")
