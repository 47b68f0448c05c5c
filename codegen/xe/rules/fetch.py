"""Rules about fetching ahead: prefetches, staging in shared local memory, pipelining, barriers, unrolling."""

from codegen.config.xe import PrefetchLevels, SlmOperands
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
)
from codegen.xe.layout.limits import LEAST_PREFETCH_ROWS
from codegen.xe.rules.case import (
    Case,
    ConfigRule,
)
from codegen.xe.rules.sizes import products_of_tile

_MAX_L1_DISTANCE, _MAX_L2_DISTANCE = 8, 16
_STAGES = (2, 3, 4)
_MAX_UNROLL = 8
# Intel's compiler makes 5 to 16 instructions of a load by lanes, with its address and conversion. Loops with more loads
# have up to 17,000, which is 270 KB, and some spill; a product takes as many clocks with fewer or shorter K steps, but
# a step of 64 may be the best.
_MAX_LOADS_BY_LANES, _SHORT_STEP = 480, 64
_WORD_BYTES = 4


def prefetch_distance(case: Case) -> str | None:
    """Require a prefetch distance within the maximum, and not beyond the last K step."""
    prefetch = case.config.strategy.prefetch
    if prefetch.distance > _MAX_L1_DISTANCE or prefetch.l2_distance > _MAX_L2_DISTANCE:
        return (
            f"prefetch distance must be at most {_MAX_L1_DISTANCE} K steps into L1 and {_MAX_L2_DISTANCE} into L2, "
            f"got {prefetch.distance} and {prefetch.l2_distance}"
        )
    farthest = max(prefetch.distance, prefetch.l2_distance) + _copied_ahead(case)
    if prefetch.distance and farthest >= case.steps:
        return f"there are {case.steps} K steps; a prefetch {farthest} steps ahead fetches none of them"
    return None


def prefetch_effect(case: Case) -> str | None:
    """Require that a prefetch has an effect."""
    prefetch = case.config.strategy.prefetch
    if prefetch.distance and case.on.lanes_a and case.on.lanes_b:
        return "prefetch has no effect where lanes access A and B: set levels none"
    if prefetch.distance and case.on.target.emulated:
        return f"prefetches have no effect on {case.on.spec.name}, which emulates: set levels none"
    how = prefetch.layout_a or prefetch.layout_b or not prefetch.hints or prefetch.payloads
    if prefetch.levels is PrefetchLevels.NONE and how:
        return "layouts, hints and payloads have no effect without a prefetch distance: omit them"
    return None


def prefetch_layout(case: Case) -> str | None:
    """Require that sub-groups share a prefetch in parts that messages can fetch."""
    c, p, t = case.config, case.problem, case.on.target
    block, round_k = c.matmul.block, c.matmul.block.k * c.strategy.k_unroll
    block_n = block.n * products_of_tile(p, block.n)
    sides = (
        ("layout_a", c.strategy.prefetch.layout_a, (block.m, round_k), p.transpose_a, case.on.lanes_a),
        ("layout_b", c.strategy.prefetch.layout_b, (round_k, block_n), p.transpose_b, case.on.lanes_b),
    )
    for name, layout, tile, by_columns, by_lanes in sides:
        if layout is None:
            continue
        if c.strategy.k_subgroups > 1:
            return f"each of k_subgroups prefetches what it multiplies: omit {name}"
        if by_lanes:
            return f"prefetch {name} has no effect on an operand that lanes access: omit it"
        (down, across), (rows, columns) = layout, tile
        if rows % down or columns % across or down * across > c.subgroups:
            return (
                f"prefetch {name} must share {rows}x{columns} evenly among at most {c.subgroups} sub-groups, "
                f"got {down}x{across}"
            )
        part = (rows // down, columns // across)
        stored = part[::-1] if by_columns else part
        nbytes, unit = stored[1] * p.dtype_a.nbytes, t.block2d_max_width_bytes // 2
        if stored[0] % LEAST_PREFETCH_ROWS or nbytes % unit:
            return (
                f"prefetch {name} must leave each sub-group multiples of {LEAST_PREFETCH_ROWS} rows of {unit} bytes, "
                f"got {stored[0]} rows of {nbytes} bytes"
            )
    return None


def slm_stages(case: Case) -> str | None:
    """Require two to four buffers for staging, at most the K steps, and none without staging."""
    s = case.config.strategy
    if (s.slm is SlmOperands.NONE) != (s.slm_stages == 0):
        return f"slm_stages must be 0 if and only if slm is none, got {s.slm.value} and {s.slm_stages}"
    if s.slm_stages and s.slm_stages not in _STAGES:
        return f"slm_stages must be one of {', '.join(map(str, _STAGES))}, got {s.slm_stages}"
    if s.slm_stages > case.steps:
        return f"there are {case.steps} K steps for {s.slm_stages} buffers"
    return None


def slm_size(case: Case) -> str | None:
    """Require that buffers, sums of parts of K, and partial sums of a reduction fit shared local memory."""
    c, p, have = case.config, case.problem, case.on.spec.max_slm_bytes
    block, s = c.matmul.block, c.strategy
    a = block.m * block.k * p.dtype_a.nbytes if s.slm in (SlmOperands.A, SlmOperands.BOTH) else 0
    b = block.k * block.n * p.products * p.dtype_b.nbytes if s.slm in (SlmOperands.B, SlmOperands.BOTH) else 0
    sums = [
        (block.m * s.sg_layout[1] if step.axis is Axis.ROW else block.n * s.sg_layout[0]) * 4
        for step in p.epilogue
        if step.kind is EpilogueKind.REDUCE
    ]
    of_tile = block.m * block.n * p.products * p.dtype_acc.nbytes
    parts = s.k_subgroups * of_tile if s.k_subgroups > 1 else 0
    need = s.slm_stages * (a + b) + sum(sums) + parts
    if have is not None and need > have:
        return f"{need} bytes of shared local memory are needed; a work-group of {case.on.spec.name} has {have}"
    return None


def barrier_every(case: Case) -> str | None:
    """Require barriers within the K loop, and none beside those of staging."""
    s = case.config.strategy
    if s.barrier_every and s.slm is not SlmOperands.NONE:
        return "staging has a barrier in every K step: set barrier_every to 0"
    if s.barrier_every and case.config.subgroups == 1:
        return "a barrier has no effect in a work-group of one sub-group: set barrier_every to 0"
    if s.barrier_every >= case.steps:
        return f"barrier_every must be below the {case.steps} K steps, got {s.barrier_every}: set it to 0"
    return None


def pipelined_registers(case: Case) -> str | None:
    """Require that operands are either loaded a step ahead into registers or staged, and that a next step exists."""
    s = case.config.strategy
    if s.pipelined_registers and s.slm is not SlmOperands.NONE:
        return "operands staged in shared local memory are already loaded ahead: set pipelined_registers to false"
    if s.pipelined_registers and case.steps == 1:
        return "there is only one K step, so none to load ahead: set pipelined_registers to false"
    return None


def k_unroll(case: Case) -> str | None:
    """Require that an iteration of the loop has no more K steps than exist."""
    unroll = case.config.strategy.k_unroll
    if unroll > 1 and unroll > min(case.steps, _MAX_UNROLL):
        return f"k_unroll must be at most {min(case.steps, _MAX_UNROLL)}, got {unroll}"
    return None


def lane_loads(case: Case) -> str | None:
    """Require that an iteration has few loads by lanes, unless it is one short K step: a long loop is no faster."""
    unroll, step = case.config.strategy.k_unroll, case.config.matmul.block.k
    if unroll == 1 and step <= _SHORT_STEP:
        return None
    loads = unroll * _loads_by_lanes(case)
    if loads <= _MAX_LOADS_BY_LANES:
        return None
    less = "k_unroll" if unroll > 1 else f"the K step to {_SHORT_STEP}"
    return f"a lane has {loads} loads in an iteration, more than {_MAX_LOADS_BY_LANES}: lower {less}"


def _loads_by_lanes(case: Case) -> int:
    """Return the loads of a lane in a K step: a word each where vectors hold neighbours, else an element."""
    c, p, on = case.config, case.problem, case.on
    block, slm = c.matmul.block, c.strategy.slm
    rows = block.m // c.subgroups if slm in (SlmOperands.A, SlmOperands.BOTH) else c.sg_m
    columns = block.n // c.subgroups if slm in (SlmOperands.B, SlmOperands.BOTH) else c.sg_n
    elements_a = rows * block.k // max(1, _WORD_BYTES // p.dtype_a.nbytes if on.vectors_a and not p.transpose_a else 1)
    elements_b = columns * p.products * block.k // p.dtype_b.packed
    elements_b //= max(1, _WORD_BYTES // p.dtype_b.nbytes if on.vectors_b and p.transpose_b else 1)
    return (elements_a * on.lanes_a + elements_b * on.lanes_b) // on.target.subgroup_size


def _copied_ahead(case: Case) -> int:
    """Return the K steps by which copies are ahead of the multiply."""
    return max(0, case.config.strategy.slm_stages - 1)


FETCH_RULES: tuple[ConfigRule, ...] = (
    slm_stages,
    slm_size,
    prefetch_distance,
    prefetch_effect,
    prefetch_layout,
    barrier_every,
    pipelined_registers,
    k_unroll,
    lane_loads,
)
