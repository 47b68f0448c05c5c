"""Clocks of the busiest core."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from codegen.xe.rules.sizes import EXPERTS_AT_ONCE, ceil_div
from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.device import Case
from tuner.model.xe.fetch import Fetch, fetch_of
from tuner.model.xe.machine_code import StepClocks
from tuner.model.xe.registers import needed_registers, spilled_registers
from tuner.model.xe.work import Work, sums_bytes

_OVERLAP = 6
"""Exponent of the power mean that combines several limits: how far the slowest hides the others."""
_DPAS_ROWS = 8


@dataclass(frozen=True, slots=True)
class CoreTime:
    """Clocks of the busiest core. `total` is that of its K loops, the others are the times of a part alone.

    `tiles` are outside of the K loops: until the first operands of a tile arrive, and for its stores; and to find the
    tiles of experts.
    """

    total: Column
    multiply: Column
    l1: Column
    l2: Column
    instructions: Column
    spills: Column
    latency: Column
    tiles: Column


class _Step(NamedTuple):
    """Clocks of one K step of work-groups that run together on a core."""

    total: Column
    multiply: Column
    l1: Column
    l2: Column
    instructions: Column
    spills: Column
    latency: Column


def core_time(on: Case, c: Columns, work: Work, known: StepClocks | None = None) -> CoreTime:
    """Return the time of full rounds of work-groups, then of one round with the remainder.

    `known` are the clocks of the machine code of the one configuration; formulas stand in for them.
    """
    fetch = fetch_of(on, c, work)
    full, last = (_step(on, c, work, fetch, together, known) for together in (work.resident, work.left))
    often = work.rounds * work.turns * work.steps
    once = np.where(work.left > 0, work.turns * work.steps, 0)
    step = _Step(*(often * f + once * np.where(work.left > 0, r, 0) for f, r in zip(full, last, strict=True)))
    tiles = work.turns * (
        work.rounds * _tile_clks(on, c, work.resident) + (work.left > 0) * _tile_clks(on, c, work.left)
    )
    return CoreTime(*step, tiles + (work.rounds + (work.left > 0)) * _count_clks(on))


def _step(on: Case, c: Columns, work: Work, fetch: Fetch, together: Column, known: StepClocks | None = None) -> _Step:
    k = on.constants
    threads = np.ceil(together * work.subgroups / on.engines)
    sg_m = np.ceil(c.block_m / c.sg_rows / _DPAS_ROWS) * _DPAS_ROWS
    sg_n = np.ceil(c.block_n / c.sg_columns / on.dpas_n) * on.dpas_n
    alone = sg_m * sg_n * on.problem.products * c.block_k / on.sustained_fma_per_clk
    multiply = threads * alone
    l1 = together * (
        fetch.near_bytes / on.l1_bytes_per_clk
        + fetch.messages * k.message_clks
        + fetch.lane_messages * k.lane_message_clks
        + fetch.vector_messages * k.vector_message_clks
    )
    l2 = together * fetch.far_bytes / k.l2_bytes_per_clk_per_core
    instructions = threads * fetch.instructions
    spilled = spilled_registers(on, c) * on.register_bytes * work.subgroups
    spills = together * 2 * spilled / k.scratch_bytes_per_clk_per_core
    if known is not None:
        issued = known.at(threads) / k.multiply_efficiency
        body = (issued**_OVERLAP + l2**_OVERLAP) ** (1 / _OVERLAP)
        one_thread = _with_far(on, c, known.at(np.ones(len(c))))
        total = np.maximum(body, one_thread)
        return _Step(total, multiply, l1, l2, instructions, np.zeros(len(c)), one_thread)
    waited = multiply
    if on.problem.has_weights:
        waited = _queued(alone, _converting(on, c, fetch) + k.near_clks, threads)
    body = (waited**_OVERLAP + l1**_OVERLAP + l2**_OVERLAP + instructions**_OVERLAP) ** (1 / _OVERLAP)
    one_thread = _with_far(on, c, alone + _converting(on, c, fetch) + _near(on, c, body))
    return _Step(np.maximum(body, one_thread) + spills, multiply, l1, l2, instructions, spills, one_thread)


def _converting(on: Case, c: Columns, fetch: Fetch) -> Column:
    """Return the clocks in which a thread alone issues the instructions of a K step besides multiplies.

    Where few registers are free, the compiler converts weights one after the other: each instruction waits for the
    result of the one before.
    """
    k = on.constants
    is_crowded = needed_registers(on, c) > k.crowded * c.grf
    return fetch.instructions + is_crowded * (k.dependent_clks - 1) * fetch.conversions


def _queued(alone: Column, between: Column, threads: Column) -> Column:
    """Return the clocks of a K step of threads that share an engine's DPAS for `alone` clocks each, and do other work
    for `between` clocks in turn: multiplies of one thread lie between its conversions, so that threads queue.

    Source: mean value analysis of a closed network of one queue (Reiser and Lavenberg, JACM 27, 1980).
    """
    length, step = np.zeros(len(alone)), np.zeros(len(alone))
    for count in range(1, int(threads.max(initial=0)) + 1):
        waits = alone * (1 + length)
        cycle = waits + between
        step = np.where(count <= threads, cycle, step)
        length = count * waits / cycle
    return step


def _near(on: Case, c: Columns, body: Column) -> Column:
    """Return the clocks that a thread waits in a K step for L1 and barriers, with `body` clocks between steps."""
    k = on.constants
    near = np.where(c.pipelined > 0, np.maximum(0, k.near_clks - body), k.near_clks / c.k_unroll)
    every = np.where(c.stages > 0, 1, c.barrier_every)
    return near + np.where(every > 0, k.barrier_clks / np.maximum(every, 1), 0)


def _with_far(on: Case, c: Columns, step: Column) -> Column:
    """Return the clocks of a thread's K step of `step` clocks where operands come from L2: they are fetched some
    steps ahead, each of which takes as long.
    """
    ahead = c.prefetch + np.maximum(0, c.stages - 1) + c.pipelined
    return np.maximum(step, (step + on.constants.far_clks) / (1 + ahead))


def _count_clks(on: Case) -> float:
    """Return the clocks in which a work-group counts the tiles of experts: it waits for the offsets of some at once,
    and then for those of each of the some among which its tile is.
    """
    count = on.problem.experts
    return 0.0 if count is None else on.constants.near_clks * (ceil_div(count, EXPERTS_AT_ONCE) + EXPERTS_AT_ONCE)


def _tile_clks(on: Case, c: Columns, together: Column) -> Column:
    """Return the clocks of a tile outside of its K steps: until its first operands arrive, for its stores, and to add
    the sums of parts of K.
    """
    k, p = on.constants, on.problem
    per_element = sum(o.dtype.nbytes * (1 + (o.role == "inout")) for o in p.operands[2:] if not o.is_vector)
    stored = np.where(c.splits > 1, p.products * p.dtype_acc.nbytes, per_element)
    stores = together * c.block_m * c.block_n * stored / k.l2_bytes_per_clk_per_core
    added = together * 2 * sums_bytes(on, c) / on.l1_bytes_per_clk + k.barrier_clks * (c.k_subgroups > 1)
    return k.tile_clks + stores + added
