"""Race detector for kernels with named barriers, which order some sub-groups of a work-group and not the others.

The rules are those of `races`; what is ordered is told by vector clocks: an access is over for another sub-group once
that knows of a later epoch of the sub-group that accessed.
"""

from collections.abc import Sequence

import numpy as np

from codegen.simulate.instructions.named_barriers import NamedBarriers
from codegen.simulate.memory.races import Access
from codegen.simulate.refusal import RaceDetected
from codegen.simulate.values import Array


class _Accesses:
    """The last epoch in which each sub-group accessed each byte in one way, 0 for never, and by which instruction."""

    def __init__(self, nbytes: int, subgroups: int) -> None:
        self.epoch = np.zeros((nbytes, subgroups), np.int32)
        self.what = np.zeros((nbytes, subgroups), np.int32)


class ClockRaces:
    """Watches shared memory, `nbytes` of it for each work-group of `teams`. `checked` counts accesses of work-items."""

    def __init__(self, teams: Sequence[tuple[int, int, int]], nbytes: int, barriers: NamedBarriers) -> None:
        self.checked = 0
        self._teams, self._nbytes, self._barriers = teams, nbytes, barriers
        self._subgroups = barriers.clocks.shape[1]
        size = len(teams) * nbytes
        self._reads, self._writes, self._atomics = (_Accesses(size, self._subgroups) for _ in range(3))
        self._texts: list[str] = []

    def read(self, access: Access) -> None:
        """Record reads.

        Raises:
            RaceDetected: of what another sub-group wrote, with no barrier between.
        """
        for others in (self._writes, self._atomics):
            self._check(access, others, "reads", "wrote")
        self._note(access, self._reads)

    def write(self, access: Access, changes: Array) -> None:
        """Record writes before they execute; `changes` are the bytes of each that differ from memory.

        Raises:
            RaceDetected: over what another sub-group read or wrote, with no barrier between.
        """
        self._check(access, self._reads, "writes", "read")
        for others in (self._writes, self._atomics):
            self._check(access, others, "writes", "wrote something else", changes)
        self._note(access, self._writes)

    def written(self, access: Access, lost: Array) -> None:
        """Check writes after they execute; `lost` are the bytes of each that something else overwrote.

        Raises:
            RaceDetected: another sub-group wrote there in the same instruction.
        """
        self._check(access, self._writes, "writes", "wrote something else", lost)

    def atomic(self, access: Access) -> None:
        """Record atomic operations.

        Raises:
            RaceDetected: on what another sub-group read or wrote otherwise, with no barrier between.
        """
        self._check(access, self._reads, "writes", "read")
        self._check(access, self._writes, "writes", "wrote")
        self._note(access, self._atomics)

    def _bytes(self, access: Access) -> Array:
        first = access.team * self._nbytes + access.offset
        return first[:, None] + np.arange(access.nbytes)

    def _check(self, access: Access, others: _Accesses, does: str, did: str, which: Array | None = None) -> None:
        clocks = self._barriers.clocks[access.team * self._subgroups + access.subgroup]
        epochs = others.epoch[self._bytes(access)]  # [accesses, bytes, sub-groups]
        raced = epochs > clocks[:, None]
        raced &= np.arange(self._subgroups) != access.subgroup[:, None, None]
        if which is not None:
            raced &= which.reshape(*raced.shape[:2], 1) != 0
        if not raced.any():
            return
        at, byte, other = np.argwhere(raced)[0].tolist()
        number = int(others.what[self._bytes(access)[at, byte], other])
        raise RaceDetected(
            access.where,
            self._texts[number],
            address=int(access.offset[at]) + byte,
            subgroups=(int(access.subgroup[at]), other),
            message=f"in work-group {self._teams[int(access.team[at])]} {does} where the other {did}",
        )

    def _note(self, access: Access, table: _Accesses) -> None:
        self.checked += len(access.offset)
        if access.where not in self._texts:
            self._texts.append(access.where)
        places, owners = self._bytes(access), access.subgroup[:, None]
        own = self._barriers.clocks[access.team * self._subgroups + access.subgroup, access.subgroup]
        table.epoch[places, owners] = own[:, None]
        table.what[places, owners] = self._texts.index(access.where)
