"""Execution of a kernel for some sub-groups in lock step.

Each work-item has its own position in the program. The earliest position runs next, for the sub-groups at it: diverged
ones reconverge where their paths join. A sub-group whose lanes have diverged runs work-item by work-item; operations
that need whole sub-groups are refused then.
"""

import math
import time
from collections import deque
from collections.abc import Mapping

import numpy as np

from codegen.simulate.frame import Frame
from codegen.simulate.instructions.effects import EFFECTS
from codegen.simulate.instructions.flow import (
    Segment,
    segments,
)
from codegen.simulate.instructions.named_barriers import NamedBarriers, Where
from codegen.simulate.instructions.ops import PURE
from codegen.simulate.instructions.phases import (
    Barrier,
    BarrierPart,
    Phases,
    barrier_of,
    stops,
)
from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
)
from codegen.simulate.memory.address_space import Memory
from codegen.simulate.refusal import (
    SimulationRefused,
    SimulationTimedOut,
)
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import (
    Array,
    constant,
    undefined,
)
from codegen.xe.nbarrier_intrinsics import MOST_NAMED

_LAST = 8  # segments that an error tells


class Program:
    """Kernel in running order."""

    def __init__(self, function: Function) -> None:
        self.segments = segments(function, stops)
        self.labels = {label: number for number, label in enumerate(dict.fromkeys(s.label for s in self.segments))}
        calls = ((i, barrier_of(i)) for s in self.segments for i in (*s.body, s.last))
        self._barriers = {id(i): barrier for i, barrier in calls if barrier is not None}
        barriers = self._barriers.values()
        self.splits_barriers = any(b.part is BarrierPart.ARRIVE and not b.named for b in barriers)
        allocated = MOST_NAMED if function.named_barriers is None else function.named_barriers
        self.barrier_ids = range(allocated) if any(b.named for b in barriers) else None

    def barrier(self, i: Instruction) -> Barrier | None:
        """Return the barrier that an instruction of the program calls."""
        return self._barriers.get(id(i))


class Machine:
    """State of one run. `instructions` counts those executed, each once for all sub-groups that ran it."""

    def __init__(
        self,
        program: Program,
        parameters: Mapping[str, Array],
        globals_: Mapping[str, int],
        memory: Memory,
        phases: Phases,
        subgroups: SubGroups,
        deadline_s: float = math.inf,
    ) -> None:
        self.instructions = 0
        self._deadline_s = deadline_s
        self._program = program
        self._subgroups = subgroups
        self._memory = memory
        self._phases = phases
        self._frame = Frame(parameters, globals_, subgroups)
        # Beyond the end are those that wait at a barrier.
        self._place = np.zeros((len(subgroups), subgroups.size), np.int32)
        self._came_from = np.full((len(subgroups), subgroups.size), -1, np.int32)

    def run(self) -> None:
        """Run to the end of the kernel.

        Raises:
            SimulationRefused: something that cannot be represented.
            SimulationTimedOut: the monotonic clock passed `deadline_s`.
        """
        end = len(self._program.segments)
        with np.errstate(all="ignore"):
            last: deque[Segment] = deque(maxlen=_LAST)
            while True:
                place = int(self._place.min())
                if place < end:
                    last.appendleft(self._program.segments[place])
                    self._activate(self._place == place)
                    self._run_segment(last[0])
                elif (self._place == end).all():
                    return
                else:
                    self._release()
                if time.monotonic() > self._deadline_s:
                    raise SimulationTimedOut(tuple(segment.label for segment in last))

    def _activate(self, here: Array) -> None:
        """Activate the converged sub-groups at this segment, or single work-items if there are none."""
        whole = here.all(1)
        if whole.all():
            self._frame.at = self._subgroups
        elif whole.any():
            self._frame.at = self._subgroups.take(np.flatnonzero(whole))
        else:
            self._frame.at = self._subgroups.take(*np.nonzero(here))

    def _run_segment(self, segment: Segment) -> None:
        self.instructions += len(segment.phis) + len(segment.body) + 1
        if segment.phis:
            # All phis read before any is written: they may name each other.
            for phi, value in [(phi, self._phi(phi)) for phi in segment.phis]:
                self._frame.write(phi, value)
        for instruction in segment.body:
            self._execute(instruction)
        self._leave(segment, segment.last)

    def _execute(self, i: Instruction) -> None:
        if (rule := PURE.get(i.opcode)) is not None:
            self._frame.write(i, rule(i, [self._frame.read(o) for o in i.operands]))
        elif (barrier := self._program.barrier(i)) is not None and barrier.named:
            rows, named = self._whole_rows(i), self._named()
            named.arrive(rows, self._barrier_ids(i), self._number(i, 2), Where(i.text, "xegpu.nbarrier_arrive"))
        elif barrier is not None:
            self._phases.reach(barrier, self._whole_rows(i), -1)
        elif (effect := EFFECTS.get(i.opcode)) is not None:
            effect(i, self._frame, self._memory)
        else:
            raise SimulationRefused(i.text, f"instruction {i.opcode} is not known here")

    def _phi(self, phi: Instruction) -> Array:
        at = self._frame.at
        came_from = self._of_active(self._came_from)
        numbers = [self._program.labels.get(label, -2) for label in phi.labels]
        first = int(came_from.flat[0])
        if (came_from == first).all():
            return self._frame.read(phi.operands[numbers.index(first)])
        ways = set(np.unique(came_from).tolist())  # what other ways give need not be defined
        given = zip(numbers, phi.operands, strict=True)
        values = {number: self._frame.read(value) for number, value in given if number in ways}
        lanes = max(value.shape[1] for value in values.values())
        if (came_from == came_from[:, :1]).all():
            came_from = came_from[:, :1]
        else:
            lanes = at.shape[1]
        out = undefined(phi.type, (len(at), lanes))
        for number, value in values.items():
            chosen = np.broadcast_to(came_from == number, (len(at), lanes))
            out[chosen] = np.broadcast_to(value, out.shape)[chosen]
        return out

    def _leave(self, segment: Segment, i: Instruction) -> None:
        at, end = self._frame.at, len(self._program.segments)
        entries = (at.row_numbers, slice(None)) if at.lane is None else (at.row_numbers, at.lane)
        if (barrier := self._program.barrier(i)) is not None:
            if barrier.named:
                where = Where(i.text, "xegpu.nbarrier_wait")
                self._named().wait(self._whole_rows(i), self._barrier_ids(i), segment.targets[0], where)
            else:
                self._phases.reach(barrier, self._whole_rows(i), segment.targets[0])
            self._place[entries] = end + 1
            return
        if i.opcode == "unreachable":
            raise SimulationRefused(i.text, "the kernel executes an `unreachable` instruction")
        if i.opcode == "ret":
            self._place[entries] = end
            return
        target = np.array(segment.targets, np.int32)[self._choice(i)]
        self._came_from[entries] = self._program.labels[segment.label]
        self._place[entries] = target if at.lane is None else np.broadcast_to(target, at.shape)[:, 0]

    def _choice(self, i: Instruction) -> Array:
        """Return the index into the targets, [entries or 1, lanes or 1]."""
        if not i.operands:
            return np.zeros((1, 1), np.int64)
        value = self._frame.read(i.operands[0])
        if i.opcode == "br":
            return np.where(value, 0, 1)
        choice = np.zeros(value.shape, np.int64)
        for index, case in enumerate(i.operands[1:], start=1):
            choice[value == constant(case).flat[0]] = index
        return choice

    def _release(self) -> None:
        where = {s.targets[0]: s.last.text for s in self._program.segments if stops(s.last)}
        rows, following = self._phases.release(where)
        self._place[rows] = following[:, None]

    def _whole_rows(self, i: Instruction) -> Array:
        """Return the active sub-groups, which must be converged."""
        if self._frame.at.lane is not None:
            raise SimulationRefused(i.text, "the lanes of a sub-group have diverged before this barrier")
        return self._frame.at.row_numbers

    def _named(self) -> NamedBarriers:
        assert self._phases.named is not None  # the program has some
        return self._phases.named

    def _barrier_ids(self, i: Instruction) -> Array:
        """Return the ids of named barriers in the source, of 8 bits: the code has numbers from 1."""
        return (self._number(i, 0).astype(np.int64) - 1 + 128) % 256 - 128

    def _number(self, i: Instruction, index: int) -> Array:
        """Return an argument of a barrier of the active sub-groups, one for each."""
        value = self._frame.read(i.operands[index])
        if (value != value[:, :1]).any():
            raise SimulationRefused(i.text, f"argument {index} differs between the lanes of a sub-group")
        return np.broadcast_to(value[:, 0].reshape(-1), len(self._frame.at))

    def _of_active(self, values: Array) -> Array:
        at = self._frame.at
        if at.rows is None:
            return values
        return values[at.rows] if at.lane is None else values[at.rows, at.lane][:, None]
