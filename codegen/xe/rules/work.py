"""Rules about the assignment of tiles and parts of K to work-groups and sub-groups."""

from codegen.config.matmul import LoopOrder
from codegen.config.xe import XE_ORDERS, SlmOperands, SplitK
from codegen.problem.dtype import DType
from codegen.target import LARGE_GRF
from codegen.xe.rules.case import (
    Case,
    ConfigRule,
)
from codegen.xe.rules.sizes import ceil_div


def threads_cover(case: Case) -> str | None:
    """Require a work-group per tile of C, or fewer, which loop."""
    threads, block = case.config.matmul.threads, case.config.matmul.block
    tiles = case.tiles
    if threads.m > tiles[0] or threads.n > tiles[1]:
        return (
            f"threads m x n must be at most the tiles of C, {tiles[0]}x{tiles[1]} for blocks of {block.m}x{block.n}; "
            f"got {threads.m}x{threads.n}"
        )
    return None


def loop_order(case: Case) -> str | None:
    """Require the default order of the o loops unless a work-group loops over both rows and columns of tiles."""
    threads, order = case.config.matmul.threads, case.config.matmul.loop_order
    if order not in XE_ORDERS:
        return f"on a GPU, loop_order is one of {', '.join(XE_ORDERS)}; got {order.value}"
    if order not in (LoopOrder.M_OUTER_N_FIRST, LoopOrder.N_OUTER_N_FIRST):
        return None
    if threads.m == case.tiles[0] or threads.n == case.tiles[1]:
        return f"{order.value} has no effect with threads {threads}: use the order with om before on"
    return None


def raster_group(case: Case) -> str | None:
    """Require groups smaller than the raster."""
    group, rows = case.config.strategy.raster_group, case.raster_rows
    if group > 1 and group >= rows:
        return f"raster_group must be below the {rows} rows of work-groups that the raster walks over, got {group}"
    return None


def split_k(case: Case) -> str | None:
    """Require a K step in every part of K, and a method to add their sums."""
    splits, method = case.config.matmul.threads.k, case.config.strategy.split_k
    if (splits == 1) != (method is SplitK.NONE):
        return f"split_k must be none if and only if threads k is 1, got {splits} and {method.value}"
    steps = case.all_steps
    if (splits - 1) * ceil_div(steps, splits) >= steps and splits > 1:
        return f"threads k splits {steps} K steps into {splits} parts, of which the last would have none"
    return None


def split_k_atomic(case: Case) -> str | None:
    """Require for atomic addition that C holds sums, steps are linear, and the order of addition is irrelevant."""
    p = case.problem
    if case.config.strategy.split_k is not SplitK.ATOMIC:
        return None
    if p.deterministic:
        return "atomic addition is not bitwise reproducible, but the problem is deterministic: use partial_sums"
    if p.dtype_c is not p.dtype_acc:
        return f"sums are added in {p.dtype_acc.value}, C is {p.dtype_c.value}: use partial_sums"
    if p.gate is not None:
        return f"{p.gate.activation.value} of the gate must see whole sums: use partial_sums"
    others = [step.kind.value for step in p.epilogue if not step.is_linear or step.axis is not None]
    if others or (p.epilogue and p.dtype_c is DType.I32):
        what = f"{', '.join(others)} must see whole sums" if others else "steps make i32 sums f32"
        return f"{what}: use partial_sums"
    return None


def subgroups_divide_block(case: Case) -> str | None:
    """Require that sub-groups share the block evenly."""
    block, layout = case.config.matmul.block, case.config.strategy.sg_layout
    if block.m % layout[0] or block.n % layout[1]:
        target = case.on.target
        return (
            f"block {block.m}x{block.n} does not divide over sg_layout {layout[0]}x{layout[1]}; "
            f"multiples of {layout[0] * target.dpas_m}x{layout[1] * target.dpas_n} do"
        )
    return None


def k_subgroups(case: Case) -> str | None:
    """Require that sub-groups which split K share one tile, and that each has a part of some K step."""
    s, depth = case.config.strategy, case.config.matmul.block.k
    if s.k_subgroups == 1:
        return None
    if s.sg_layout != (1, 1):
        return f"k_subgroups share one tile of C: set sg_layout to 1x1, got {s.sg_layout[0]}x{s.sg_layout[1]}"
    if s.slm is not SlmOperands.NONE:
        return f"each of k_subgroups multiplies other parts of A and B: set slm to none, got {s.slm.value}"
    parts = ceil_div(case.problem.k, depth)
    if s.k_subgroups > parts and not case.any_size:
        return f"K has {parts} parts of block k {depth} for {s.k_subgroups} k_subgroups"
    return None


def experts(case: Case) -> str | None:
    """Require of experts that work-groups are numbered in one dimension, and that none shares a tile with another."""
    if case.problem.experts is None:
        return None
    matmul, s = case.config.matmul, case.config.strategy
    if matmul.threads.k > 1:
        return f"tiles of experts are not split over work-groups: set threads k to 1, got {matmul.threads.k}"
    if s.raster_group > 1:
        return f"tiles of experts are numbered expert by expert: set raster_group to 1, got {s.raster_group}"
    if matmul.loop_order not in (LoopOrder.M_OUTER, LoopOrder.N_OUTER):
        return f"{matmul.loop_order.value} has no effect on experts: use the order with om before on"
    return None


def workgroup_size(case: Case) -> str | None:
    """Require that the work-group fits the device."""
    size, most = case.config.subgroups * case.on.target.subgroup_size, case.on.spec.max_workgroup_size
    if most is not None and size > most:
        return f"{case.config.subgroups} sub-groups are {size} work-items; {case.on.spec.name} allows {most}"
    return None


def resident_subgroups(case: Case) -> str | None:
    """Require that a work-group's sub-groups are hardware threads of one Xe core in the chosen GRF mode."""
    s, mode = case.on.spec, case.config.strategy.grf_mode
    if s.eus_per_core is None or s.threads_per_eu is None or s.threads_per_eu_large_grf is None:
        return None
    # Threads share an EU's registers: half as many per thread allow twice as many threads, up to the EU's limit.
    per_eu = min(s.threads_per_eu, s.threads_per_eu_large_grf * LARGE_GRF // mode)
    if case.config.subgroups > s.eus_per_core * per_eu:
        return (
            f"{case.config.subgroups} sub-groups do not fit one Xe core with {mode} registers a thread; {s.name} has "
            f"{s.eus_per_core * per_eu} such threads"
        )
    return None


def grf_mode(case: Case) -> str | None:
    """Require a GRF mode of the device."""
    mode, modes = case.config.strategy.grf_mode, case.on.target.grf_modes
    return None if mode in modes else f"grf_mode must be one of {list(modes)}, got {mode}"


WORK_RULES: tuple[ConfigRule, ...] = (
    grf_mode,
    subgroups_divide_block,
    k_subgroups,
    experts,
    workgroup_size,
    resident_subgroups,
    threads_cover,
    loop_order,
    raster_group,
    split_k,
    split_k_atomic,
)
