"""The minimal story of a seed that breaks an invariant: the faults without which it holds, and what happened."""

from __future__ import annotations

from collections.abc import Sequence

from tests.world.plan import Fault, planned
from tests.world.virtual import Broken
from tests.world.world import FAULT_STEPS, World, run_seed

_LINES = 60


def shrunk(seed: int, plan: Sequence[Fault]) -> tuple[Sequence[Fault], World, Broken]:
    """Remove faults while the seed still breaks an invariant, until none of those left can be removed.

    Raises:
        ValueError: it breaks none.
    """
    world, broken = run_seed(seed, plan)
    if broken is None:
        raise ValueError(f"seed {seed} breaks no invariant with {len(plan)} faults")
    left = [fault for fault in plan if fault in world.faults.done]
    tried = 0
    while tried < len(left):  # without one, others may have become superfluous: all are tried again
        fewer = [*left[:tried], *left[tried + 1 :]]
        again, still = run_seed(seed, fewer)
        if still is None:
            tried += 1
        else:
            left, world, broken, tried = fewer, again, still, 0
    return left, world, broken


def story(seed: int, plan: Sequence[Fault] | None = None) -> str:
    """Return the minimal story of a seed that breaks an invariant."""
    faults, world, broken = shrunk(seed, planned(seed, FAULT_STEPS) if plan is None else plan)
    lines = [f"seed {seed} breaks an invariant: {broken}", f"with {len(faults)} faults:"]
    lines += [f"  {fault}" for fault in faults] or ["  none"]
    lines += [f"the last of {len(world.scheduler.story)} lines:", *world.scheduler.story[-_LINES:]]
    return "\n".join(lines)
