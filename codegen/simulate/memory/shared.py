"""Shared local memory: one copy of every variable for each work-group."""

from dataclasses import dataclass

import numpy as np

from codegen.simulate.instructions.phases import Phases
from codegen.simulate.memory.clock_races import ClockRaces
from codegen.simulate.memory.gather import (
    gather,
    scatter,
)
from codegen.simulate.memory.races import (
    Access,
    RaceDetector,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import (
    Array,
    undefined_bytes,
)


@dataclass(frozen=True, slots=True)
class SharedVariable:
    """A variable, and where in the work-group's shared memory it is, in bytes."""

    name: str
    start: int
    nbytes: int


class SharedMemory:
    """Shared memory of all work-groups that run together. With `detect`, it is checked for races."""

    def __init__(
        self, variables: tuple[SharedVariable, ...], subgroups: SubGroups, phases: Phases, detect: bool
    ) -> None:
        self.nbytes = max((v.start + v.nbytes for v in variables), default=0)
        teams = subgroups.team_groups
        # Whole elements of 8 bytes, so that accesses can be of these.
        self._content = undefined_bytes((len(teams), -(-self.nbytes // 8) * 8))
        self._variables = variables
        self._phases = phases
        self.races: RaceDetector | ClockRaces | None = None
        if detect and self.nbytes and phases.named is not None:
            self.races = ClockRaces(teams, self.nbytes, phases.named)
        elif detect and self.nbytes:
            self.races = RaceDetector(teams, self.nbytes, phases.split)

    def load(self, number: int | None, offsets: Array, nbytes: int, at: SubGroups, where: str) -> Array:
        """Load bytes of the memory, [sub-groups, lanes or 1, nbytes]."""
        self._check(number, offsets, nbytes, where)
        if self.races is not None:
            self.races.read(self._access(offsets, nbytes, at, where))
        rows, places = self._rows(offsets, at)
        return gather(self._content, rows, places, nbytes)

    def store(self, number: int | None, offsets: Array, values: Array, at: SubGroups, where: str) -> None:
        """Store bytes [sub-groups or 1, lanes or 1, nbytes]."""
        nbytes = values.shape[-1]
        self._check(number, offsets, nbytes, where)
        rows, places = self._rows(offsets, at)
        shape = np.broadcast_shapes(places.shape, values.shape[:2])
        rows, places = np.broadcast_to(rows, shape), np.broadcast_to(places, shape)
        whole = np.broadcast_to(values, (*shape, nbytes))
        if self.races is None:
            scatter(self._content, rows, places, whole)
            return
        changes = (gather(self._content, rows, places, nbytes) != whole).reshape(-1, nbytes)
        access = self._access(places, nbytes, at, where)
        self.races.write(access, changes)
        scatter(self._content, rows, places, whole)
        lost = (gather(self._content, rows, places, nbytes) != whole).reshape(-1, nbytes)
        self.races.written(access, lost)

    def atomic(self, number: int | None, offsets: Array, nbytes: int, at: SubGroups, where: str) -> tuple[Array, ...]:
        """Return the memory, and rows and offsets of an atomic operation in it, which is recorded as done."""
        self._check(number, offsets, nbytes, where)
        if self.races is not None:
            self.races.atomic(self._access(offsets, nbytes, at, where))
        rows, places = self._rows(offsets, at)
        return self._content, np.broadcast_to(rows, at.shape), np.broadcast_to(places, at.shape)

    def _rows(self, offsets: Array, at: SubGroups) -> tuple[Array, Array]:
        shape = np.broadcast_shapes(offsets.shape, (len(at), 1))
        return np.broadcast_to(at.team[:, None], shape), np.broadcast_to(offsets, shape)

    def _access(self, offsets: Array, nbytes: int, at: SubGroups, where: str) -> Access:
        rows, places = self._rows(offsets, at)
        lanes = places.shape[1]
        owners = np.repeat(at.row_numbers, lanes)
        return Access(
            where,
            rows.reshape(-1),
            places.reshape(-1),
            nbytes,
            np.repeat(at.subgroup_id, lanes),
            self._phases.arrived[owners],
            self._phases.passed[owners],
        )

    def _check(self, number: int | None, offsets: Array, nbytes: int, where: str) -> None:
        start, end, what = 0, self.nbytes, f"{self.nbytes} bytes of shared memory"
        if number is not None:
            variable = self._variables[number]
            start, end = variable.start, variable.start + variable.nbytes
            what = f"the {variable.nbytes} bytes of {variable.name}"
        low, high = int(offsets.min()), int(offsets.max())
        if low < start or high + nbytes > end:
            bad = low if low < start else high
            raise SimulationRefused(where, f"touches bytes {bad - start} to {bad - start + nbytes} of {what}")
