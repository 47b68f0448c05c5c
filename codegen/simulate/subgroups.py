"""Sub-groups that run together, and their active work-items."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from codegen.simulate.values import (
    Array,
)

Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SubGroups:
    """Sub-groups of some work-groups, or single work-items of them: their place in the launch, one entry each.

    `size` is the work-items of a sub-group.

    `rows` are their places among all that run together, None for all of them; `lane` is the lane of each entry when
    these are single work-items, as after a branch that parted the lanes of a sub-group. `team` counts the
    work-groups that run together, `subgroup_id` the sub-groups of a work-group; x is first in both.
    """

    team: Array
    group_id: tuple[Array, Array, Array]
    subgroup_id: Array
    groups: Extents
    local_size: Extents
    size: int
    rows: Array | None = None
    lane: Array | None = None

    def __len__(self) -> int:
        return len(self.subgroup_id)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a value with one entry per work-item."""
        return len(self), self.size if self.lane is None else 1

    @property
    def lanes(self) -> Array:
        """Lane numbers, to combine with values."""
        return np.arange(self.size)[None] if self.lane is None else self.lane[:, None]

    @property
    def row_numbers(self) -> Array:
        """Places among all sub-groups that run together."""
        return np.arange(len(self)) if self.rows is None else self.rows

    @property
    def subgroups_per_team(self) -> int:
        """Sub-groups of a work-group."""
        return prod(self.local_size) // self.size

    @property
    def team_groups(self) -> list[Extents]:
        """The work-group of each team, of all sub-groups that run together."""
        x, y, z = (axis[:: self.subgroups_per_team].tolist() for axis in self.group_id)
        return list(zip(x, y, z, strict=True))

    def take(self, rows: Array | None, lane: Array | None = None) -> "SubGroups":
        """Return some of all sub-groups, or with `lane` one work-item of each; None selects all."""
        if rows is None:
            return self
        x, y, z = (axis[rows] for axis in self.group_id)
        subgroup_id = self.subgroup_id[rows]
        return SubGroups(self.team[rows], (x, y, z), subgroup_id, self.groups, self.local_size, self.size, rows, lane)

    def pick(self, mask: Array) -> "SubGroups":
        """Return the work-items where `mask`, of the same shape, is set."""
        entry, column = np.nonzero(mask)
        x, y, z = (axis[entry] for axis in self.group_id)
        lane = column if self.lane is None else self.lane[entry]
        rows, subgroup_id = self.row_numbers[entry], self.subgroup_id[entry]
        return SubGroups(self.team[entry], (x, y, z), subgroup_id, self.groups, self.local_size, self.size, rows, lane)

    def local_id(self, dimension: int) -> Array:
        """Return the place of each work-item in its work-group."""
        x, y, _ = self.local_size
        linear = self.subgroup_id[:, None] * self.size + self.lanes
        return (linear % x, linear // x % y, linear // (x * y))[dimension]


def subgroups_of(linear_ids: Sequence[int], groups: Extents, local_size: Extents, size: int) -> SubGroups:
    """Return the sub-groups of the work-groups with these linear ids, x fastest."""
    per_group = prod(local_size) // size
    team = np.repeat(np.arange(len(linear_ids)), per_group)
    linear = np.asarray(linear_ids, np.int64)[team]
    x, y, _ = groups
    group_id = (linear % x, linear // x % y, linear // (x * y))
    subgroup_id = np.tile(np.arange(per_group, dtype=np.int64), len(linear_ids))
    return SubGroups(team, group_id, subgroup_id, groups, local_size, size)
