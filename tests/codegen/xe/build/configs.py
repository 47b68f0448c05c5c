"""Random configurations of a problem: a value on every axis, most of them legal."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from codegen import (
    Extent,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
from codegen.config.xe import XE_ORDERS
from codegen.xe.layout import block_limits
from codegen.xe.layout.messages import (
    MESSAGES,
    Transfer,
)
from codegen.xe.rules import (
    ceil_div,
    tiles_of,
)
from codegen.xe.rules.case import (
    Case,
    Problem,
    case_of,
    worth_preparing,
)
from codegen.xe.rules.tiles import (
    chooses_blocks_of_a,
    chooses_blocks_of_b,
)

Choice = TypeVar("Choice")

_LAYOUTS = ((1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 2), (1, 4), (4, 1), (2, 4), (4, 2), (1, 3), (3, 1), (3, 2))
_FEW = ((1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
_K_PARTS = (2, 2, 3, 4, 8)
_MULTIPLES, _SMALL = (1, 1, 1, 1, 2, 2, 2, 4), (1, 1, 1, 1, 1, 1, 1, 2)
_BITS = 8


def draw_config(rng: Random, on: Problem, small: bool, in_parts: bool = False) -> XeConfig:
    """A configuration, of small tiles if asked for, or with parts of K in a work-group; rules may refuse it."""
    t, (rows, columns) = on.target, (1, 1) if in_parts else rng.choice(_FEW if small else _LAYOUTS)
    parts = rng.choice(_K_PARTS) if (rows, columns) == (1, 1) and (in_parts or rng.random() < 0.5) else 1
    multiples = _SMALL if small else _MULTIPLES
    sg_m, sg_n = t.dpas_m * _of(rng, *multiples, 3), t.dpas_n * _of(rng, *multiples)
    block = Extent(rows * sg_m, columns * sg_n, on.dpas_k * _of(rng, *_in_a_group(on, multiples)))
    plain = XeConfig(
        MatmulConfig(Extent(1, 1, 1), block, Extent(t.dpas_m, t.dpas_n, on.dpas_k)),
        XeStrategy((rows, columns), k_subgroups=parts, workspace=_workspace(rng, on)),
    )
    tiles, steps = tiles_of(on.problem, plain), ceil_div(on.problem.k, plain.k_step)
    grouped = on.problem.experts is not None
    splits, split_k = (1, SplitK.NONE) if grouped else _split(rng, steps)
    groups = tiles if rng.random() < 0.75 else (rng.randint(1, tiles[0]), rng.randint(1, tiles[1]))
    threads = Extent(*groups, splits)
    any_order = threads.m < tiles[0] and threads.n < tiles[1] and not grouped
    order = rng.choice(list(XE_ORDERS)) if any_order else _of(rng, *_RASTERS)
    walked = 1 if grouped else threads.m if order.walks_along_n else threads.n
    strategy = _strategy(rng, plain, ceil_div(steps, splits), walked, on.target.grf_modes)
    matmul = replace(plain.matmul, threads=threads, loop_order=order)
    return _with_loads(rng, case_of(on, XeConfig(matmul, replace(strategy, split_k=split_k))))


def _in_a_group(on: Problem, multiples: Sequence[int]) -> Sequence[int]:
    """Multiples of a DPAS instruction's K that divide a group of scales."""
    group = on.problem.quantization.group if on.problem.quantization is not None else None
    return [each for each in multiples if group is None or group % (each * on.dpas_k) == 0]


def _workspace(rng: Random, on: Problem) -> WorkspaceOperands:
    """Operands to prepare, half of the time that some may be worth it."""
    worth = worth_preparing(on)
    if worth is WorkspaceOperands.NONE or rng.random() < 0.5:
        return WorkspaceOperands.NONE
    both = worth is WorkspaceOperands.BOTH and rng.random() < 0.4
    return _of(rng, WorkspaceOperands.A, WorkspaceOperands.B) if both else worth


_RASTERS = (LoopOrder.M_OUTER, LoopOrder.N_OUTER)


def _of(rng: Random, *choices: Choice) -> Choice:
    return rng.choice(choices)


def _split(rng: Random, steps: int) -> tuple[int, SplitK]:
    if steps == 1 or rng.random() < 0.65:
        return 1, SplitK.NONE
    return rng.randint(2, min(4, steps)), _of(rng, SplitK.PARTIAL_SUMS, SplitK.ATOMIC)


def _strategy(rng: Random, plain: XeConfig, steps: int, walked: int, modes: tuple[int, ...]) -> XeStrategy:
    parts = plain.strategy.k_subgroups
    staged = steps > 1 and parts == 1 and rng.random() < 0.35
    slm = _of(rng, SlmOperands.A, SlmOperands.B, SlmOperands.BOTH) if staged else SlmOperands.NONE
    stages = rng.randint(2, min(4, steps)) if staged else 0
    left = steps - max(0, stages - 1)
    return XeStrategy(
        plain.strategy.sg_layout,
        prefetch=_prefetch(rng, plain, left) if left > 1 and rng.random() < 0.5 else Prefetch(),
        grf_mode=rng.choice(modes),
        slm=slm,
        slm_stages=stages,
        barrier_every=rng.randint(1, 3) if not staged and rng.random() < 0.2 else 0,
        raster_group=rng.randint(2, max(2, walked - 1)) if walked > 2 and rng.random() < 0.5 else 1,
        pipelined_registers=not staged and steps > 1 and rng.random() < 0.3,
        k_unroll=rng.randint(2, min(8, steps)) if steps > 1 and rng.random() < 0.3 else 1,
        k_subgroups=parts,
        workspace=plain.strategy.workspace,
    )


def _prefetch(rng: Random, plain: XeConfig, steps: int) -> Prefetch:
    """A prefetch of fewer steps ahead than there are."""
    block, together = plain.matmul.block, plain.subgroups
    far = rng.randint(1, min(3, steps - 1))
    own = plain.strategy.k_subgroups > 1
    a, b = (None if own else _shared(rng, tile, together) for tile in ((block.m, block.k), (block.k, block.n)))
    hints, payloads = rng.random() < 0.7, rng.random() < 0.3
    if far > 1 and rng.random() < 0.5:
        return Prefetch(PrefetchLevels.L2_L1, rng.randint(1, far - 1), far, a, b, hints, payloads)
    return Prefetch(PrefetchLevels.L1, far, 0, a, b, hints, payloads)


def _shared(rng: Random, tile: tuple[int, int], together: int) -> tuple[int, int] | None:
    """A layout of sub-groups that divides a tile."""
    if rng.random() < 0.7:
        return None
    down, across = ([d for d in range(1, together + 1) if length % d == 0] for length in tile)
    return rng.choice([(d, a) for d in down for a in across if d * a <= together])


def _with_loads(rng: Random, case: Case) -> XeConfig:
    """The configuration with load blocks, where they have an effect."""
    c = case.config
    load, block, by_a, by_b = c.matmul.innermost, c.matmul.block, chooses_blocks_of_a(case), chooses_blocks_of_b(case)
    of_a = {(r, k) for r, k in _shapes(case, Transfer.PLAIN) if c.sg_m % r == 0 and block.k % k == 0 and r >= load.m}
    packed = Transfer.PACKED if case.problem.dtype_b.nbytes < 4 else Transfer.PLAIN
    of_b = {(k, n) for k, n in _shapes(case, packed) if block.k % k == 0 and c.sg_n % n == 0 and n >= load.n}
    depths = [k for k in {k for _, k in of_a} | {k for k, _ in of_b} if k % load.k == 0]
    fitting = [
        Extent(m, n, k)
        for k in depths
        for m in ([r for r, d in of_a if d == k] if by_a else [load.m])
        for n in ([w for d, w in of_b if d == k] if by_b else [load.n])
        if by_a or by_b
    ]
    chosen = rng.choice(sorted(fitting, key=str)) if fitting else load
    return replace(c, matmul=replace(c.matmul, innermost=chosen))


def _shapes(case: Case, transfer: Transfer) -> set[tuple[int, int]]:
    bits, limits = case.problem.dtype_a.nbytes * _BITS, block_limits(case.on.target)
    messages = [m for m in MESSAGES if m.transfer is transfer and m.bits == bits and limits.allow(m)]
    return {(m.rows, m.width * m.array_length) for m in messages}
