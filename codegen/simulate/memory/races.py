"""Race detector: accesses of shared local memory that no barrier orders.

A read races with a write of another sub-group, and a write with a read or write of another sub-group, if the later
of the two has not passed a barrier that the other one reached after its access. Detection does not depend on the order
in which sub-groups happen to run, as only barriers count. Two sub-groups that write the same value to a place do not
race: shared work is done that way. Work-items of one sub-group run in lock step and do not race; atomic
operations do not race with one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.simulate.refusal import (
    RaceDetected,
    SimulationRefused,
)
from codegen.simulate.values import Array

_MAX_SUBGROUPS = 64


@dataclass(frozen=True, slots=True)
class Access:
    """Accesses of one instruction, one entry for each work-item: work-group, first byte, sub-group, its barriers."""

    where: str
    team: Array
    offset: Array
    nbytes: int
    subgroup: Array
    arrived: Array
    passed: Array


@dataclass(frozen=True, slots=True)
class _Entries:
    """Accesses granule by granule: the slot of each in the tables, first for the stage of its sub-group."""

    slots: tuple[Array, ...]
    subgroup: Array
    arrived: Array
    passed: Array


class _Table:
    """Last access to each granule: its stage, sub-group and instruction."""

    def __init__(self, slots: int) -> None:
        self.stage = np.full(slots, -1, np.int32)
        self.who = np.full(slots, -1, np.int16)
        self.what = np.full(slots, -1, np.int32)

    def columns(self) -> tuple[str, ...]:
        return "stage", "who", "what"


class _Reads(_Table):
    """Readers: the first of a stage, and the last distinct one."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.other = np.full(slots, -1, np.int16)
        self.other_what = np.full(slots, -1, np.int32)

    def columns(self) -> tuple[str, ...]:
        return "stage", "who", "what", "other", "other_what"


class _Writes(_Table):
    """Writers: the last of a stage, all of it as bits, and whether all were atomic."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.all = np.zeros(slots, np.uint64)
        self.atomic = np.zeros(slots, np.bool_)

    def columns(self) -> tuple[str, ...]:
        return "stage", "who", "what", "all", "atomic"


class RaceDetector:
    """Watches shared memory, `nbytes` of it for each work-group of `teams`. `checked` counts accesses of work-items."""

    def __init__(self, teams: Sequence[tuple[int, int, int]], nbytes: int, split_barriers: bool = False) -> None:
        self.checked = 0
        self._teams, self._nbytes = teams, nbytes
        # With split barriers one sub-group may have arrived once more than another one.
        self._stages = 2 if split_barriers else 1
        self._granule = 4  # bytes that are watched as one; halved when an access splits them
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._reads, self._writes = _Reads(self._slots), _Writes(self._slots)

    @property
    def _granules(self) -> int:
        return -(-self._nbytes // self._granule)

    @property
    def _slots(self) -> int:
        return self._stages * len(self._teams) * self._granules

    def read(self, access: Access) -> None:
        """Record reads.

        Raises:
            RaceDetected: of what another sub-group wrote, with no barrier between.
        """
        e = self._entries(access)
        w, r = self._writes, self._reads
        for slots in e.slots:
            unordered = (w.stage[slots] >= e.passed) & (w.all[slots] & _bit(e.subgroup) == 0)
            self._report(unordered, slots, w.who, w.what, access, e, "reads", "wrote")
        here = e.slots[0]
        stale = r.stage[here] != e.arrived
        fresh = here[stale]
        r.who[fresh], r.what[fresh] = e.subgroup[stale], self._number(access.where)
        r.stage[fresh], r.other[fresh] = e.arrived[stale], -1
        others = r.who[here] != e.subgroup
        r.other[here[others]], r.other_what[here[others]] = e.subgroup[others], self._number(access.where)

    def write(self, access: Access, changes: Array) -> None:
        """Record writes before they execute; `changes` are the bytes of each that differ from memory.

        Raises:
            RaceDetected: over what another sub-group read or wrote, with no barrier between.
        """
        e = self._entries(access)
        self._check_reads(access, e)
        w = self._writes
        changed = self._by_granule(changes)
        for slots in e.slots:
            others = w.all[slots] & ~_bit(e.subgroup) != 0
            unordered = (w.stage[slots] >= e.passed) & others & changed
            self._report(unordered, slots, w.who, w.what, access, e, "writes", "wrote something else")
        self._note_write(access, e, atomic=False)

    def written(self, access: Access, lost: Array) -> None:
        """Check writes after they execute; `lost` are the bytes of each that something else overwrote.

        Raises:
            RaceDetected: another sub-group wrote there in the same instruction.
        """
        e, w = self._entries(access), self._writes
        slots = e.slots[0]
        raced = self._by_granule(lost) & (w.who[slots] != e.subgroup)
        self._report(raced, slots, w.who, w.what, access, e, "writes", "wrote something else")
        self.checked -= len(access.offset)  # these were counted before

    def atomic(self, access: Access) -> None:
        """Record atomic operations.

        Raises:
            RaceDetected: on what another sub-group read or wrote otherwise, with no barrier between.
        """
        e, w = self._entries(access), self._writes
        self._check_reads(access, e)
        for slots in e.slots:
            others = w.all[slots] & ~_bit(e.subgroup) != 0
            unordered = (w.stage[slots] >= e.passed) & others & ~w.atomic[slots]
            self._report(unordered, slots, w.who, w.what, access, e, "writes", "wrote")
        self._note_write(access, e, atomic=True)

    def _check_reads(self, access: Access, e: _Entries) -> None:
        r = self._reads
        for slots in e.slots:
            unordered = r.stage[slots] >= e.passed
            first, second = r.who[slots] != e.subgroup, (r.other[slots] >= 0) & (r.other[slots] != e.subgroup)
            self._report(unordered & first, slots, r.who, r.what, access, e, "writes", "read")
            self._report(unordered & second, slots, r.other, r.other_what, access, e, "writes", "read")

    def _note_write(self, access: Access, e: _Entries, atomic: bool) -> None:
        w, here = self._writes, e.slots[0]
        fresh = here[w.stage[here] != e.arrived]
        w.all[fresh], w.atomic[fresh] = 0, atomic
        w.who[here], w.what[here], w.stage[here] = e.subgroup, self._number(access.where), e.arrived
        if not atomic:
            w.atomic[here] = False
        w.all[here] |= _bit(e.subgroup)
        lost = w.all[here] & _bit(e.subgroup) == 0  # where sub-groups share a place only the last one's bit is set
        np.bitwise_or.at(w.all, here[lost], _bit(e.subgroup[lost]))

    def _entries(self, access: Access) -> _Entries:
        self.checked += len(access.offset)
        while (access.offset % self._granule).any() or access.nbytes % self._granule:
            self._halve()
        if len(access.subgroup) and int(access.subgroup.max()) >= _MAX_SUBGROUPS:
            raise SimulationRefused(access.where, f"races are looked for among at most {_MAX_SUBGROUPS} sub-groups")
        count = access.nbytes // self._granule
        first = access.team * self._granules + access.offset // self._granule
        granule = (first[:, None] + np.arange(count)).reshape(-1)
        arrived, stage_size = np.repeat(access.arrived, count), len(self._teams) * self._granules
        slots = tuple(granule + (arrived + i) % self._stages * stage_size for i in range(self._stages))
        return _Entries(slots, np.repeat(access.subgroup, count), arrived, np.repeat(access.passed, count))

    def _by_granule(self, bytes_: Array) -> Array:
        return np.any(bytes_.reshape(-1, self._granule), axis=1, keepdims=True)[:, 0]

    def _halve(self) -> None:
        old = self._granules
        self._granule //= 2
        for table in (self._reads, self._writes):
            for name in table.columns():
                by_granule = getattr(table, name).reshape(-1, old)
                setattr(table, name, np.repeat(by_granule, 2, axis=1)[:, : self._granules].reshape(-1).copy())

    def _number(self, where: str) -> int:
        if where not in self._numbers:
            self._numbers[where] = len(self._texts)
            self._texts.append(where)
        return self._numbers[where]

    def _report(
        self, raced: Array, slots: Array, who: Array, what: Array, access: Access, e: _Entries, does: str, did: str
    ) -> None:
        if not raced.any():
            return
        at = int(np.argmax(raced))
        slot, count = int(slots[at]), access.nbytes // self._granule
        raise RaceDetected(
            access.where,
            self._texts[int(what[slot])],
            address=int(slot % self._granules) * self._granule,
            subgroups=(int(e.subgroup[at]), int(who[slot])),
            message=f"in work-group {self._teams[int(access.team[at // count])]} {does} where the other {did}",
        )


def _bit(subgroup: Array) -> Array:
    return np.left_shift(np.uint64(1), subgroup.astype(np.uint64))
