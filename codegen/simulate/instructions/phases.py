"""Barriers: numbers of arrivals and passes of each sub-group, and those that wait."""

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from codegen.simulate.instructions.named_barriers import NamedBarriers
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.llvm_ir.mangling import unmangled
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array
from codegen.xe.nbarrier_intrinsics import SIGNAL, WAIT

LOCAL_FENCE = 1
_SPIRV_WORKGROUP_MEMORY = 0x100
_SPIRV_SUBGROUP_SCOPE = 3
_SPIRV_NAME = re.compile(r"__spirv_ControlBarrier(?P<half>Arrive|Wait)?(?:INTEL)?")


class BarrierPart(StrEnum):
    """Part of a barrier that a call performs."""

    BOTH = "both"
    ARRIVE = "arrive"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Barrier:
    """A call of a barrier; `orders_shared` if shared memory written before it may be read after it.

    `named`: of some sub-groups of the work-group; its first argument is its number, and the third, how many arrive.
    """

    part: BarrierPart
    orders_shared: bool
    named: bool = False


_NAMES = {
    "barrier": BarrierPart.BOTH,
    "work_group_barrier": BarrierPart.BOTH,
    "intel_work_group_barrier_arrive": BarrierPart.ARRIVE,
    "intel_work_group_barrier_wait": BarrierPart.WAIT,
}


def barrier_of(i: Instruction) -> Barrier | None:
    """Return the barrier that an instruction calls, None for others and for sub-group barriers.

    Raises:
        SimulationRefused: flags that are not constants.
    """
    if i.opcode != "call":
        return None
    name = unmangled(i.detail)
    if name in (SIGNAL, WAIT):
        return Barrier(BarrierPart.ARRIVE if name == SIGNAL else BarrierPart.WAIT, orders_shared=True, named=True)
    if (part := _NAMES.get(name)) is not None:
        return Barrier(part, bool(_constant(i, 0) & LOCAL_FENCE))
    m = _SPIRV_NAME.fullmatch(name)
    if m is None or _constant(i, 0) == _SPIRV_SUBGROUP_SCOPE:
        return None
    part = BarrierPart(m["half"].lower()) if m["half"] else BarrierPart.BOTH
    return Barrier(part, bool(_constant(i, 2) & _SPIRV_WORKGROUP_MEMORY))


def stops(i: Instruction) -> bool:
    """Return True for a call that waits for other sub-groups."""
    barrier = barrier_of(i)
    return barrier is not None and barrier.part is not BarrierPart.ARRIVE


def _constant(i: Instruction, index: int) -> int:
    if index >= len(i.operands) or not i.operands[index].is_constant:
        raise SimulationRefused(i.text, f"a barrier needs a constant as argument {index}")
    return int(i.operands[index].constant[0] or 0)


class Phases:
    """Barriers of the sub-groups that run together.

    `arrived` and `passed` count those that order shared memory, for each sub-group: what one did at `arrived` n is
    over for another one when that has `passed` more than n. `split` if some arrive and wait in two calls. `named` are
    the named ones, if there are some: made of their ids.
    """

    def __init__(self, subgroups: SubGroups, split: bool, named: range | None) -> None:
        self.named = NamedBarriers(subgroups, named) if named is not None else None
        count = len(subgroups)
        self.split = split
        self.arrived, self.passed = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._subgroups = subgroups
        self._met, self._gone_on = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._next = np.full(count, -1, np.int64)
        self._orders = np.zeros(count, np.bool_)

    def reach(self, barrier: Barrier, rows: Array, following: int) -> bool:
        """Record that sub-groups reach a barrier, which continues at `following`. Return True if they have to wait."""
        if barrier.part is not BarrierPart.WAIT:
            self._met[rows] += 1
            self.arrived[rows] += barrier.orders_shared
        if barrier.part is BarrierPart.ARRIVE:
            return False
        self._next[rows], self._orders[rows] = following, barrier.orders_shared
        return True

    def release(self, where: dict[int, str]) -> tuple[Array, Array]:
        """Return the waiting sub-groups that may continue, and where; call when all wait or have ended.

        Raises:
            SimulationRefused: none may, or sub-groups of a work-group wait at different barriers.
        """
        if self.named is not None:
            rows, following = self.named.release()
            if len(rows):
                return rows, following
            self.named.check()
        waits = self._next >= 0
        teams = (-1, self._subgroups.subgroups_per_team)
        met = np.repeat(self._met.reshape(teams).min(1), teams[1])
        free = np.flatnonzero(waits & (met > self._gone_on))
        by_team = self._next.reshape(teams)
        apart = (by_team != by_team[:, :1]).any(1)
        if not len(free) or apart.any():
            self._refuse(int(np.argmax(apart if apart.any() else waits.reshape(teams).any(1))), where)
        following = self._next[free]
        self._gone_on[free] += 1
        self.passed[free] += self._orders[free]
        self._next[free] = -1
        if self.named is not None:
            self.named.meet(free)
        return free, following

    def _refuse(self, team: int, where: dict[int, str]) -> None:
        per_team = self._subgroups.subgroups_per_team
        places = self._next[team * per_team : (team + 1) * per_team].tolist()
        group = tuple(int(axis[team * per_team]) for axis in self._subgroups.group_id)
        waiting = next(place for place in places if place >= 0)
        others = [number for number, place in enumerate(places) if place != waiting]
        elsewhere = [where[place] for place in places if place not in (waiting, -1)]
        message = "wait at `" + elsewhere[0] + "`" if elsewhere else "have ended"
        if not others:
            message, others = "wait for an arrival that never happens", list(range(per_team))
        raise SimulationRefused(
            where[waiting], f"not all sub-groups of work-group {group} come to this barrier: {others[:8]} {message}"
        )
