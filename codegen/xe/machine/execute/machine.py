"""Execution of the instructions of a kernel by all threads of some work-groups.

Threads at the same instruction execute it together; where they part, those that are furthest back go first. Others go
first if they are about to jump back behind these: in a loop that searches for work, threads so find theirs one after
another and then do it together.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from codegen.simulate.instructions.named_barriers import Where
from codegen.simulate.instructions.phases import Barrier, BarrierPart, Phases
from codegen.simulate.refusal import SimulationRefused, SimulationTimedOut
from codegen.simulate.values import Array
from codegen.xe.machine.execute.alu import alu_step
from codegen.xe.machine.execute.block_2d import block_step
from codegen.xe.machine.execute.dpas import dpas_step
from codegen.xe.machine.execute.flow import Next, branch_step
from codegen.xe.machine.execute.memory import Memory
from codegen.xe.machine.execute.scattered import oword_step, scattered_step, scratch_step
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.messages import (
    FenceMessage,
    GatewayMessage,
    GatewayOperation,
    MemoryMessage,
    OwordMessage,
    ScratchMessage,
)
from codegen.xe.machine.operands import Immediate
from codegen.xe.machine.refusal import NotRepresented

_CHECK_EVERY = 256  # instructions between looks at the clock
_ARRIVE, _WAIT = (Barrier(part, orders_shared=True) for part in (BarrierPart.ARRIVE, BarrierPart.WAIT))
_BARRIER_ID = 0xFF  # in element 2 of a barrier's payload
_ENDED, _WAITING = -1, -2
_SHORT = 8  # times fewer instructions to the jump back than between both, for which others go first

Step = Callable[[], Next]


class Machine:
    """Threads that run a listing. `instructions` counts those that were executed, once for all threads together."""

    def __init__(
        self, listing: Listing, threads: Threads, memory: Memory, phases: Phases, deadline_s: float = math.inf
    ) -> None:
        self.instructions = 0
        self._listing, self._threads, self._memory, self._phases = listing, threads, memory, phases
        self._deadline_s = deadline_s
        self._at = np.zeros(threads.count, np.int64)
        self._jumps_back = [
            (number, min(i.targets))
            for number, i in enumerate(listing.instructions)
            if i.targets and min(i.targets) <= number
        ]
        self._steps: dict[int, Step] = {}

    def run(self) -> None:
        """Run until all threads have ended.

        Raises:
            SimulationRefused: something that is not represented, or not allowed.
            RaceDetected: a race in shared memory.
            SimulationTimedOut: the deadline passed.
        """
        with np.errstate(all="ignore"):
            while True:
                running = self._at >= 0
                if not running.any():
                    if (self._at == _ENDED).all():
                        return
                    self._release()
                    continue
                self._run_first(running)

    def _run_first(self, running: Array) -> None:
        """Execute the threads that go first until they part or reach the next others."""
        numbers = np.unique(self._at[running]).tolist()
        if len(numbers) > 1 and self._returns_soon(numbers[1], numbers[0]):
            del numbers[0]
        number, stop = numbers[0], numbers[1] if len(numbers) > 1 else len(self._listing.instructions) + 1
        together = running & (self._at == number)
        self._threads.live = None if together.all() else together
        while number < stop:
            following = self._execute(number)
            if following is None:
                number += 1
            elif isinstance(following, int):
                if following < 0 or following <= number:
                    self._at[together] = following
                    return
                number = following
            else:
                self._at[together] = following[together]
                return
        self._at[together] = number

    def _returns_soon(self, ahead: int, behind: int) -> bool:
        """Return whether threads at `ahead` soon reach a jump to `behind` or further back."""
        jump = next((number for number, target in self._jumps_back if number >= ahead and target <= behind), None)
        return jump is not None and _SHORT * (jump - ahead) < ahead - behind

    def _execute(self, number: int) -> Next:
        self.instructions += 1
        if self.instructions % _CHECK_EVERY == 0 and time.monotonic() > self._deadline_s:
            raise SimulationTimedOut
        step = self._steps.get(number)
        if step is None:
            if number >= len(self._listing.instructions):
                raise SimulationRefused("", "a thread runs beyond the end of the kernel")
            step = self._steps[number] = self._bound(self._listing.instructions[number], number)
        return step()

    def _bound(self, i: Instruction, number: int) -> Step:
        """Return the function that executes an instruction."""
        threads, memory = self._threads, self._memory
        match i.message:
            case None:
                if i.targets:
                    return branch_step(i, number, threads)
                if i.opcode == "sync":
                    return self._sync(i, number)
                if i.opcode.startswith("dpas"):
                    return dpas_step(i, self._listing.instructions[number + 1], threads)
                return alu_step(i, threads)
            case MemoryMessage(access=access) as m:
                return (block_step if access.is_block_2d else scattered_step)(i, m, threads, memory)
            case ScratchMessage() as m:
                return scratch_step(i, m, threads, memory)
            case OwordMessage() as m:
                return oword_step(i, m, threads, memory)
            case FenceMessage():
                return lambda: None
            case GatewayMessage(GatewayOperation.END_OF_THREAD):
                return lambda: _ENDED
            case GatewayMessage():
                return self._arrive(i)

    def _arrive(self, i: Instruction) -> Step:
        assert i.payload is not None
        payload, threads = self._threads.view(np.dtype("u4"))[i.payload.address.number], self._threads

        def arrive() -> Next:
            rows = threads.rows()
            numbers = payload[rows, 2] & _BARRIER_ID
            named = numbers > 0
            if named.any():
                if self._phases.named is None or not named.all():
                    raise SimulationRefused(i.text, f"named barrier {int(numbers.max())} that no thread waits for")
                self._phases.named.arrive(rows, numbers, payload[rows, 2] >> 16 & 0xFF, Where(i.text, i.text))
            else:
                self._phases.reach(_ARRIVE, rows, 0)
            return None

        return arrive

    def _sync(self, i: Instruction, number: int) -> Step:
        if i.function != "bar":
            return lambda: None
        name = barrier_name(i)

        def wait() -> Next:
            rows = self._threads.rows()
            if name:
                assert self._phases.named is not None
                self._phases.named.wait(rows, np.full(len(rows), name), number + 1, Where(i.text, i.text))
            else:
                self._phases.reach(_WAIT, rows, number + 1)
            return _WAITING

        return wait

    def _release(self) -> None:
        where = {n + 1: i.text for n, i in enumerate(self._listing.instructions) if i.function == "bar"}
        rows, following = self._phases.release(where)
        self._at[rows] = following


def barrier_name(i: Instruction) -> int:
    """Return the number of the named barrier that `sync.bar` waits for; 0 for the work-group's.

    Raises:
        SimulationRefused: it is in a register.
    """
    (source,) = i.sources
    if isinstance(source, Immediate):
        return source.bits
    if source.type is None:
        return 0
    raise NotRepresented(i.text, "the number of a barrier in a register")
