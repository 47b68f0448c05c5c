"""Runs a launch, or some work-groups of it, in batches that bound the memory they need."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from codegen.simulate.ir import Function
from codegen.simulate.machine import Machine
from codegen.simulate.parser import parse_kernel
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import subgroups_of
from codegen.simulate.values import LANES, Array

# Values live until they are overwritten, so a batch needs about all results of a kernel for each sub-group.
BATCH_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """What was run: work-groups of the launch's total, and LLVM instructions, each counted once a batch."""

    executed: int
    total: int
    instructions: int


def simulate(
    ll: str,
    kernel: str,
    buffers: Sequence[Array],
    groups: tuple[int, int, int],
    local_size: int,
    only: Sequence[int] | None = None,
    time_limit_s: float | None = None,
) -> SimulationReport:
    """Execute final LLVM IR on `buffers`, which are the kernel's pointers in order; those writeable are outputs.

    Runs all work-groups, or only those with the linear ids `only` (x fastest). Each buffer stands for memory
    that starts at a multiple of 64 bytes.

    Raises:
        SimulationRefused: the simulator cannot represent something in the kernel or the launch, or it writes an input.
        SimulationTimedOut: `time_limit_s` passed.
    """
    deadline_s = math.inf if time_limit_s is None else time.monotonic() + time_limit_s
    function = parse_kernel(ll, kernel)
    total = prod(groups)
    chosen = list(range(total)) if only is None else list(only)
    _check_launch(function, buffers, groups, local_size, chosen)
    flat = [b.reshape(-1).view(np.uint8) for b in buffers]
    instructions = 0
    for batch in _batches(function, chosen, local_size):
        machine = Machine(function, flat, subgroups_of(batch, groups, local_size, LANES), deadline_s)
        machine.run()
        instructions += machine.instructions
    return SimulationReport(len(chosen), total, instructions)


def _batches(function: Function, chosen: list[int], local_size: int) -> Iterator[list[int]]:
    per_lane = sum(i.type.nbytes for b in function.blocks for i in (*b.phis, *b.body) if i.type.element != "void")
    private = sum(i.pointee.nbytes for b in function.blocks for i in b.body if i.opcode == "alloca")
    size = max(1, BATCH_BYTES // max(1, (per_lane + private) * local_size))
    for start in range(0, len(chosen), size):
        yield chosen[start : start + size]


def _check_launch(
    function: Function, buffers: Sequence[Array], groups: tuple[int, int, int], local_size: int, chosen: list[int]
) -> None:
    parameters = function.parameters
    if any(p.type.element != "ptr" or p.type.space != 1 for p in parameters) or len(parameters) != len(buffers):
        types = ", ".join(str(p.type) for p in parameters)
        raise SimulationRefused("", f"expected one global pointer for each of {len(buffers)} buffers, got ({types})")
    if min(groups) < 1 or local_size < LANES or local_size % LANES:
        raise SimulationRefused(
            "", f"expected groups of at least 1 and whole sub-groups of {LANES}, got {groups} and {local_size}"
        )
    if function.work_group_size not in (None, (local_size, 1, 1)) or function.subgroup_size not in (None, LANES):
        raise SimulationRefused(
            "",
            f"the kernel requires work-groups of {function.work_group_size} and sub-groups of "
            f"{function.subgroup_size}, the launch has {(local_size, 1, 1)} and {LANES}",
        )
    if not chosen or min(chosen) < 0 or max(chosen) >= prod(groups) or len(set(chosen)) != len(chosen):
        raise SimulationRefused("", f"expected different work-groups below {prod(groups)}, got {chosen[:8]}")
    if not all(b.flags.c_contiguous for b in buffers):
        raise SimulationRefused("", "buffers must be contiguous")
