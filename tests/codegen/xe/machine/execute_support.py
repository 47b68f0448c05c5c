"""Execution of a few lines of a listing by threads whose registers a test sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.simulate.instructions.named_barriers import HARDWARE_IDS
from codegen.simulate.instructions.phases import Phases
from codegen.simulate.memory.shared import SharedMemory, SharedVariable
from codegen.simulate.subgroups import subgroups_of
from codegen.xe.machine import parse_listing
from codegen.xe.machine.execute.machine import Machine
from codegen.xe.machine.execute.memory import Memory
from codegen.xe.machine.execute.threads import Threads

END = "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000010 {EOT}"
GRF_BYTES = 64

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Ran:
    """Threads that have run; flags and registers are those of all. `instructions` were executed, once for threads
    together.
    """

    threads: Threads
    instructions: int

    def get(self, register: int, dtype: str, thread: int = 0, count: int = 1) -> Array:
        """Return the elements of registers of a thread."""
        view = self.threads.view(np.dtype(dtype))
        return view[register : register + count, thread].reshape(-1)

    def flag(self, number: int, size: int = 16, thread: int = 0) -> list[int]:
        """Return the first bits of a flag register."""
        return self.threads.flags[thread, number * 32 : number * 32 + size].astype(int).tolist()


def run(
    lines: str,
    registers: Mapping[int, Array] | None = None,
    *,
    threads: int = 1,
    groups: int = 1,
    buffers: Sequence[Array] = (),
    slm_bytes: int = 0,
    scratch: int = 0,
    named: bool = False,
    end: str = END,
) -> Ran:
    """Execute lines in `groups` work-groups of `threads` sub-groups.

    Register numbers have contents, of one thread for all or [threads, elements]. Element 0 of r127 is the thread's
    number in its group. `end` follows the lines. `named`: there are named barriers.
    """
    listing = parse_listing("k", f"{lines}\n{end}")
    subgroups = subgroups_of(range(groups), (groups, 1, 1), (threads * 16, 1, 1), 16)
    state = Threads(subgroups, 128, GRF_BYTES)
    state.view(np.dtype("u4"))[127, :, 0] = subgroups.subgroup_id
    for number, content in (registers or {}).items():
        per_register = GRF_BYTES // content.itemsize
        rows = np.atleast_2d(content)
        for start in range(0, rows.shape[1], per_register):
            part = rows[:, start : start + per_register]
            state.view(content.dtype)[number + start // per_register, :, : part.shape[1]] = part
    phases = Phases(subgroups, split=True, named=HARDWARE_IDS if named else None)
    variables = (SharedVariable("shared", 0, slm_bytes),) if slm_bytes else ()
    memory = Memory(
        [b.reshape(-1).view(np.uint8) for b in buffers],
        np.zeros(1024, np.uint8),
        SharedMemory(variables, subgroups, phases, detect=True),
        len(subgroups),
        scratch,
    )
    machine = Machine(listing, state, memory, phases)
    machine.run()
    return Ran(state, machine.instructions)
