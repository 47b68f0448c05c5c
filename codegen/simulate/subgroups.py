"""Which sub-groups run together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.simulate.values import Array


@dataclass(frozen=True, slots=True)
class SubGroups:
    """The sub-groups of some work-groups: their place in the launch, one entry each. Along x first."""

    group_id: tuple[Array, Array, Array]
    subgroup_id: Array
    groups: tuple[int, int, int]
    local_size: int

    def __len__(self) -> int:
        return len(self.subgroup_id)

    def take(self, active: Array | None) -> "SubGroups":
        """Some of them; all for None."""
        if active is None:
            return self
        x, y, z = (axis[active] for axis in self.group_id)
        return SubGroups((x, y, z), self.subgroup_id[active], self.groups, self.local_size)


def subgroups_of(linear_ids: Sequence[int], groups: tuple[int, int, int], local_size: int, lanes: int) -> SubGroups:
    """The sub-groups of the work-groups with these linear ids, x fastest."""
    per_group = local_size // lanes
    linear = np.repeat(np.asarray(linear_ids, np.int64), per_group)
    x, y, _ = groups
    group_id = (linear % x, linear // x % y, linear // (x * y))
    subgroup_id = np.tile(np.arange(per_group, dtype=np.int64), len(linear_ids))
    return SubGroups(group_id, subgroup_id, groups, local_size)
