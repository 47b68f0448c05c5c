"""Named barriers: phases that sub-groups of a work-group complete together, and those that wait for one.

A sub-group that arrives must have been notified before it arrives again, and only one that arrived is notified.
"""

from dataclasses import dataclass, field

import numpy as np

from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array

HARDWARE_IDS = range(1, 32)
"""Ids of named barriers in machine code: barrier 0 is that of the whole work-group."""


@dataclass(frozen=True, slots=True)
class Where:
    """The instruction of a barrier, and its name in messages."""

    text: str
    name: str

    def refused(self, message: str) -> SimulationRefused:
        """Return the error of the instruction."""
        return SimulationRefused(self.text, message, self.name)


@dataclass(slots=True)
class _Meeting:
    """One barrier of a work-group: participants, those that arrived in this phase, and what they knew.

    `published`: for each phase that was completed, what all of its participants knew when they arrived.
    """

    participants: int
    arrived: set[int] = field(default_factory=set[int])
    seen: list[Array] = field(default_factory=list[Array])
    published: list[Array] = field(default_factory=list[Array])


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A sub-group that waits for a phase of a barrier, and then goes on at `following`."""

    number: int
    phase: int
    following: int
    where: Where


class NamedBarriers:
    """Barriers of all work-groups that run together; `clocks` are what each sub-group knows of the others, by epochs.

    `ids` are those of the barriers that each work-group has.

    Clock entry s of a sub-group is the last epoch of sub-group s that is over for it; its own is that in which it is.
    """

    def __init__(self, subgroups: SubGroups, ids: range) -> None:
        self._ids = ids
        self._per_team = subgroups.subgroups_per_team
        self._meetings: dict[tuple[int, int], _Meeting] = {}
        self._due: dict[tuple[int, int], int] = {}
        self._waiting: dict[int, _Waiting] = {}
        self.clocks = np.zeros((len(subgroups), self._per_team), np.int64)
        rows = np.arange(len(subgroups))
        self.clocks[rows, rows % self._per_team] = 1

    def arrive(self, rows: Array, numbers: Array, participants: Array, where: Where) -> None:
        """Record that sub-groups arrive.

        Raises:
            SimulationRefused: at a barrier that does not exist, twice in a phase, or with other participants.
        """
        for row, number, count in zip(rows.tolist(), numbers.tolist(), participants.tolist(), strict=True):
            team, own = divmod(row, self._per_team)
            self._check_id(number, where)
            meeting = self._meetings.setdefault((team, number), _Meeting(count))
            if not meeting.arrived:
                meeting.participants = count
            if meeting.participants != count or not 0 < count <= self._per_team:
                raise where.refused(
                    f"named barrier {number}: sub-group {own} says {count} participants, another "
                    f"{meeting.participants}, and the work-group has {self._per_team} sub-groups"
                )
            if (row, number) in self._due:
                raise where.refused(f"sub-group {own} arrives at named barrier {number} again before it was notified")
            meeting.arrived.add(own)
            self._due[row, number] = len(meeting.published)
            meeting.seen.append(self.clocks[row].copy())
            self.clocks[row, own] += 1
            if len(meeting.arrived) == count:
                meeting.published.append(np.max(meeting.seen, axis=0))
                meeting.arrived.clear()
                meeting.seen.clear()

    def wait(self, rows: Array, numbers: Array, following: int, where: Where) -> None:
        """Record that sub-groups wait, and where they go on.

        Raises:
            SimulationRefused: a barrier does not exist, or one did not arrive, so that it would never be notified.
        """
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            self._check_id(number, where)
            phase = self._due.pop((row, number), None)
            if phase is None:
                raise where.refused(
                    f"sub-group {row % self._per_team} waits at named barrier {number} and did not arrive there: it "
                    "would never be notified"
                )
            self._waiting[row] = _Waiting(number, phase, following, where)

    def release(self) -> tuple[Array, Array]:
        """Return the sub-groups whose phase was completed, and where they go on."""
        free = {row: w for row, w in self._waiting.items() if len(self._meeting(row, w).published) > w.phase}
        for row, waiting in free.items():
            self.clocks[row] = np.maximum(self.clocks[row], self._meeting(row, waiting).published[waiting.phase])
            del self._waiting[row]
        return np.array(list(free), np.int64), np.array([w.following for w in free.values()], np.int64)

    def check(self) -> None:
        """Check that no sub-group waits at a named barrier, where no other goes on.

        Raises:
            SimulationRefused: one does, which is a deadlock.
        """
        for row, waiting in self._waiting.items():
            meeting = self._meeting(row, waiting)
            raise waiting.where.refused(
                f"deadlock: sub-group {row % self._per_team} waits at named barrier {waiting.number}, where "
                f"{len(meeting.arrived)} of {meeting.participants} participants arrived: "
                f"{sorted(meeting.arrived)}"
            )

    def meet(self, rows: Array) -> None:
        """Record that whole work-groups pass their own barrier."""
        for team in np.unique(rows // self._per_team).tolist():
            part = slice(team * self._per_team, (team + 1) * self._per_team)
            self.clocks[part] = self.clocks[part].max(0)
            own = np.arange(self._per_team)
            self.clocks[part][own, own] += 1

    def _check_id(self, number: int, where: Where) -> None:
        if number not in self._ids:
            raise where.refused(
                f"expected the id of a named barrier that is allocated, {self._ids.start} to {self._ids.stop - 1}, "
                f"got {number}"
            )

    def _meeting(self, row: int, waiting: _Waiting) -> _Meeting:
        return self._meetings[row // self._per_team, waiting.number]
