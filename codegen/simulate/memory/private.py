"""Private arrays of every work-item."""

import numpy as np

from codegen.simulate.memory.gather import (
    gather,
    scatter,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import (
    Array,
    undefined_bytes,
)


class PrivateMemory:
    """Arrays by number, for `count` sub-groups."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._sizes: list[int] = []
        self._numbers: dict[str, int] = {}
        # An array is replaced, never written into: loaded values are views of it. None: all undefined.
        self._contents: list[Array | None] = []

    def allocate(self, name: str, nbytes: int, at: SubGroups) -> int:
        """Return the number of the array `name`, its contents undefined."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._contents)
            self._sizes.append(nbytes)
            self._contents.append(None)
        elif at.rows is None:
            self._contents[number] = None
        else:
            self.store(number, np.zeros((1, 1), np.int64), undefined_bytes((1, 1, nbytes)), at, name)
        return number

    def load(self, number: int, offsets: Array, nbytes: int, at: SubGroups, where: str) -> Array:
        """Load bytes of an array, [sub-groups or 1, lanes or 1, nbytes]."""
        self._check(number, offsets, nbytes, where)
        contents = self._contents[number]
        if contents is None:
            return undefined_bytes((*at.shape, nbytes))
        offset = int(offsets.flat[0])
        if offsets.size > 1 and (offsets != offset).any():
            rows, places = self._of_work_items(at, offsets)
            return gather(contents.reshape(-1, self._sizes[number]), rows, places, nbytes)
        if at.rows is None:
            return contents[:, :, offset : offset + nbytes]
        if at.lane is None:
            return contents[at.rows, :, offset : offset + nbytes]
        return contents[at.rows, at.lane, offset : offset + nbytes][:, None]

    def store(self, number: int, offsets: Array, values: Array, at: SubGroups, where: str) -> None:
        """Store bytes [sub-groups or 1, lanes or 1, nbytes]."""
        nbytes, size = values.shape[-1], self._sizes[number]
        self._check(number, offsets, nbytes, where)
        if at.rows is None and nbytes == size:
            whole = np.broadcast_to(values, (self._count, at.size, size))
            self._contents[number] = np.ascontiguousarray(whole)
            return
        old = self._contents[number]
        new = undefined_bytes((self._count, at.size, size)) if old is None else old.copy()
        self._contents[number] = new
        offset = int(offsets.flat[0])
        if offsets.size > 1 and (offsets != offset).any():
            rows, places = self._of_work_items(at, offsets)
            scatter(new.reshape(-1, size), rows, places, np.broadcast_to(values, (*at.shape, nbytes)))
        elif at.lane is None:
            new[slice(None) if at.rows is None else at.rows, :, offset : offset + nbytes] = values
        else:
            new[at.rows, at.lane, offset : offset + nbytes] = values[:, 0]

    def _of_work_items(self, at: SubGroups, offsets: Array) -> tuple[Array, Array]:
        rows = np.broadcast_to(at.row_numbers[:, None] * at.size + at.lanes, at.shape)
        return rows, np.broadcast_to(offsets, at.shape)

    def _check(self, number: int, offsets: Array, nbytes: int, where: str) -> None:
        size = self._sizes[number] if number < len(self._sizes) else 0
        last = int(offsets.max())
        if last + nbytes > size:
            raise SimulationRefused(where, f"touches bytes {last} to {last + nbytes} of {size} private ones")
