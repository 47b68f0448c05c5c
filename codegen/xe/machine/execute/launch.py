"""Execution of a launch of machine code, or of some of its work-groups, in batches that bound the memory use."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from codegen.simulate.instructions.named_barriers import HARDWARE_IDS
from codegen.simulate.instructions.phases import Phases
from codegen.simulate.launch import SimulationReport
from codegen.simulate.memory.shared import SharedMemory, SharedVariable
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import Extents, SubGroups, subgroups_of
from codegen.xe.isa.native import Compiled
from codegen.xe.machine.execute.machine import Machine, barrier_name
from codegen.xe.machine.execute.memory import Memory
from codegen.xe.machine.execute.payload import Launch, Payload, Value, payload_of, start
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.instruction import Listing
from codegen.xe.machine.listing import parse_listing
from codegen.xe.machine.refusal import NotRepresented
from codegen.xe.machine.zebin import KernelInfo, Zebin, read_zebin

BATCH_BYTES = 64 << 20  # of registers and shared memory of the threads that run together
_CONSTANTS = (".data.const", ".bss.const")
_PATCHES = frozenset({"__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0"})  # 0 here, as in the binary
_WATCHING_BYTES = 10  # what a race detector keeps of each byte of shared memory

_LEAST_SCRATCH = 1024  # bytes


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A compiled module: its binary, the listings of its kernels by name, and the bytes of a register."""

    zebin: Zebin
    listings: Mapping[str, Listing]
    grf_bytes: int


def read_machine_code(compiled: Compiled) -> MachineCode:
    """Read a binary with its disassembly.

    Raises:
        MachineCodeRefused: something is not known.
    """
    listings = {name: parse_listing(name, text) for name, text in compiled.disassembly.assembly.items()}
    return MachineCode(read_zebin(compiled.binary), listings, compiled.grf_bytes)


def run_machine_code(
    code: MachineCode,
    kernel: str,
    grid: Extents,
    block: Extents,
    args: Sequence[Value],
    *,
    only: Sequence[int] | None = None,
    time_limit_s: float | None = None,
    detect_races: bool = True,
) -> SimulationReport:
    """Execute a kernel's instructions with one value for each argument: `grid` work-groups of `block` work-items.

    An array for a pointer, changed in place if it is writeable; numbers for others. `only` are linear ids of
    work-groups (x fastest).

    Raises:
        SimulationRefused: something that is not represented, arguments that the kernel does not take, or an access
            outside of its memory.
        RaceDetected: accesses of shared memory that no barrier orders.
        SimulationTimedOut: `time_limit_s` passed.
    """
    info, listing = code.zebin.kernel(kernel), code.listings[kernel]
    _check_launch(info, grid, block)
    deadline_s = math.inf if time_limit_s is None else time.monotonic() + time_limit_s
    constants = [code.zebin.sections[name] for name in _CONSTANTS if name in code.zebin.sections]
    payload = payload_of(info, Launch(args, grid, block), b"".join(constants), code.grf_bytes)
    chosen = list(range(prod(grid))) if only is None else list(only)
    instructions = checked = 0
    for batch in _batches(info, code.grf_bytes, block, chosen):
        subgroups = subgroups_of(batch, grid, block, info.simd_size)
        machine, shared = _machine(info, listing, payload, subgroups, code.grf_bytes, detect_races, deadline_s)
        machine.run()
        instructions += machine.instructions
        checked += shared.races.checked if shared.races is not None else 0
    return SimulationReport(len(chosen), prod(grid), instructions, checked)


def _machine(
    kernel: KernelInfo,
    listing: Listing,
    payload: Payload,
    subgroups: SubGroups,
    grf_bytes: int,
    detect_races: bool,
    deadline_s: float,
) -> tuple[Machine, SharedMemory]:
    threads = Threads(subgroups, kernel.grf_count, grf_bytes)
    start(threads, payload, subgroups)
    named = any(i.function == "bar" and barrier_name(i) for i in listing.instructions)
    phases = Phases(subgroups, split=True, named=HARDWARE_IDS if named else None)
    variables = (SharedVariable("shared", 0, kernel.slm_bytes),) if kernel.slm_bytes else ()
    shared = SharedMemory(variables, subgroups, phases, detect_races)
    memory = Memory(payload.buffers, payload.heap, shared, len(subgroups), _scratch_of_thread(kernel.scratch_bytes))
    return Machine(listing, threads, memory, phases, deadline_s), shared


def _batches(kernel: KernelInfo, grf_bytes: int, local_size: Extents, chosen: list[int]) -> Iterator[list[int]]:
    of_thread = kernel.grf_count * grf_bytes + kernel.scratch_bytes
    of_group = of_thread * prod(local_size) // kernel.simd_size + kernel.slm_bytes * (1 + _WATCHING_BYTES)
    size = max(1, BATCH_BYTES // of_group)
    for first in range(0, len(chosen), size):
        yield chosen[first : first + size]


def _check_launch(kernel: KernelInfo, groups: Extents, local_size: Extents) -> None:
    if min(groups) < 1 or min(local_size) < 1 or prod(local_size) % kernel.simd_size:
        raise SimulationRefused(
            "",
            f"expected groups of at least 1 and whole sub-groups of {kernel.simd_size}, got {groups} and {local_size}",
        )
    if unknown := set(kernel.patched) - _PATCHES:
        raise NotRepresented("", f"the loader patches {', '.join(sorted(unknown))} into {kernel.name}")
    if kernel.walk_order not in (None, (0, 1, 2)):
        raise NotRepresented("", f"work-items are numbered in the order {kernel.walk_order} of dimensions")
    if kernel.local_size not in (None, local_size):
        raise SimulationRefused(
            "", f"the kernel requires work-groups of {kernel.local_size}, the launch has {local_size}"
        )


def _scratch_of_thread(used: int) -> int:
    """Return the scratch memory that a driver gives a thread: a power of two of at least 1 KiB.

    Blocks that are loaded may reach beyond what is used. Source: Intel's compute runtime, per-thread scratch size.
    """
    return max(_LEAST_SCRATCH, 1 << (used - 1).bit_length()) if used else 0
