"""Execution of a launch, or of some of its work-groups, in batches that bound the memory use."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from codegen.simulate.arguments import (
    Value,
    bind_arguments,
)
from codegen.simulate.instructions.phases import Phases
from codegen.simulate.llvm_ir.ir import Function
from codegen.simulate.llvm_ir.parser import parse_kernel
from codegen.simulate.machine import (
    Machine,
    Program,
)
from codegen.simulate.memory.address_space import Memory
from codegen.simulate.memory.shared import (
    SharedMemory,
    SharedVariable,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import (
    Extents,
    subgroups_of,
)
from codegen.simulate.values import (
    Array,
)

# Values live until they are overwritten, so a batch needs about all results of a kernel for each sub-group.
BATCH_BYTES = 128 << 20
MOST_GROUPS = 1 << 20  # of a launch that is run whole: hours of work at a few milliseconds each
_SUBGROUP_SIZE = 16  # of kernels that do not state one
_SUBGROUP_SIZES = (8, 16)
_WATCHING_BYTES = 10  # what a race detector keeps of each byte of shared memory


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """Report of a simulation: executed work-groups of the launch's total, LLVM instructions, each counted once per
    batch, and accesses of shared memory by single work-items that were checked for races.
    """

    executed: int
    total: int
    instructions: int
    races_checked: int = 0


class Execute(Protocol):
    """Executes a kernel by name, as `run_kernel` does with the code of a module. Thread-safe."""

    def __call__(
        self,
        kernel: str,
        grid: Extents,
        block: Extents,
        args: Sequence[Value],
        *,
        only: Sequence[int] | None = None,
        time_limit_s: float | None = None,
    ) -> SimulationReport: ...


@dataclass(frozen=True, slots=True)
class _Launch:
    """Kernel with its arguments and launch."""

    function: Function
    buffers: Sequence[Array]
    parameters: Mapping[str, Array]
    globals: Mapping[str, int]
    shared: tuple[SharedVariable, ...]
    groups: Extents
    local_size: Extents

    @property
    def subgroup_size(self) -> int:
        """Work-items of a sub-group."""
        return self.function.subgroup_size or _SUBGROUP_SIZE


def simulate(
    ll: str,
    kernel: str,
    buffers: Sequence[Array],
    groups: Extents,
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
    function = parse_kernel(ll, kernel)
    parameters = function.parameters
    if any(p.type.element != "ptr" or p.type.space != 1 for p in parameters) or len(parameters) != len(buffers):
        types = ", ".join(str(p.type) for p in parameters)
        raise SimulationRefused("", f"expected one global pointer for each of {len(buffers)} buffers, got ({types})")
    return _run(function, groups, (local_size, 1, 1), buffers, only, time_limit_s, detect_races=True)


def run_kernel(
    ll: str,
    kernel: str,
    grid: Extents,
    block: Extents,
    args: Sequence[Value],
    *,
    only: Sequence[int] | None = None,
    time_limit_s: float | None = None,
    detect_races: bool = True,
) -> SimulationReport:
    """Execute final LLVM IR with one argument for each parameter: `grid` work-groups of `block` work-items.

    An array for a pointer, changed in place if it is writeable, or for an i64 that is an address; the bytes of it for
    a pointer to shared memory; integers and floats for scalars. Arrays that are the same memory are one buffer.
    `only` and `time_limit_s` are those of `simulate`.

    Raises:
        SimulationRefused: arguments that the kernel does not take, or something that cannot be represented.
        RaceDetected: accesses of shared memory that no barrier orders, unless `detect_races` is off.
        SimulationTimedOut: `time_limit_s` passed.
    """
    return _run(parse_kernel(ll, kernel), grid, block, args, only, time_limit_s, detect_races)


def _run(
    function: Function,
    groups: Extents,
    local_size: Extents,
    args: Sequence[Value],
    only: Sequence[int] | None,
    time_limit_s: float | None,
    detect_races: bool,
) -> SimulationReport:
    deadline_s = math.inf if time_limit_s is None else time.monotonic() + time_limit_s
    total = prod(groups)
    if only is None and total > MOST_GROUPS:
        raise SimulationRefused("", f"expected at most {MOST_GROUPS} work-groups to simulate, got {total}")
    chosen = list(range(total)) if only is None else list(only)
    _check_launch(function, groups, local_size, chosen)
    bound = bind_arguments(function, args)
    launch = _Launch(function, bound.buffers, bound.parameters, bound.globals, bound.shared, groups, local_size)
    program = Program(function)
    instructions = races_checked = 0
    for batch in _batches(launch, chosen):
        machine, memory = _machine(launch, program, batch, deadline_s, detect_races)
        machine.run()
        instructions += machine.instructions
        races_checked += memory.shared.races.checked if memory.shared.races is not None else 0
    return SimulationReport(len(chosen), total, instructions, races_checked)


def _machine(
    launch: _Launch, program: Program, batch: list[int], deadline_s: float, detect_races: bool
) -> tuple[Machine, Memory]:
    subgroups = subgroups_of(batch, launch.groups, launch.local_size, launch.subgroup_size)
    phases = Phases(subgroups, program.splits_barriers, program.barrier_ids)
    shared = SharedMemory(launch.shared, subgroups, phases, detect_races)
    memory = Memory(launch.buffers, shared, len(subgroups))
    return Machine(program, launch.parameters, launch.globals, memory, phases, subgroups, deadline_s), memory


def _batches(launch: _Launch, chosen: list[int]) -> Iterator[list[int]]:
    blocks = launch.function.blocks
    results = (i.type for b in blocks for i in (*b.phis, *b.body) if i.result and i.type.element != "void")
    per_lane = sum(type_.nbytes for type_ in results)
    private = sum(i.pointee.nbytes for b in blocks for i in b.body if i.opcode == "alloca")
    shared = sum(v.nbytes for v in launch.shared) * (1 + _WATCHING_BYTES)
    size = max(1, BATCH_BYTES // max(1, (per_lane + private) * prod(launch.local_size) + shared))
    for start in range(0, len(chosen), size):
        yield chosen[start : start + size]


def _check_launch(function: Function, groups: Extents, local_size: Extents, chosen: list[int]) -> None:
    size = function.subgroup_size or _SUBGROUP_SIZE
    if min(groups) < 1 or min(local_size) < 1 or prod(local_size) % size:
        raise SimulationRefused(
            "", f"expected groups of at least 1 and whole sub-groups of {size}, got {groups} and {local_size}"
        )
    if function.work_group_size not in (None, local_size) or size not in _SUBGROUP_SIZES:
        raise SimulationRefused(
            "",
            f"the kernel requires work-groups of {function.work_group_size} and sub-groups of "
            f"{function.subgroup_size}, the launch has {local_size} and sub-groups of {_SUBGROUP_SIZES}",
        )
    if not chosen or min(chosen) < 0 or max(chosen) >= prod(groups) or len(set(chosen)) != len(chosen):
        raise SimulationRefused("", f"expected different work-groups below {prod(groups)}, got {chosen[:8]}")
