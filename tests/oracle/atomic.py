"""Atomic updates of memory."""

from dataclasses import replace

import numpy as np

from codegen.xe.dialects.kinds import AtomicKind
from tests.oracle.combine import update
from tests.oracle.elements import Array
from tests.oracle.frame import Frame
from tests.oracle.scatter import (
    read,
    write,
)
from tests.oracle.values import Scattered


def exchange(frame: Frame, kind: AtomicKind, target: Scattered, values: Array, mask: Array | None = None) -> Array:
    """Update elements in row-major order; what they held, zero where there is none or the mask is false."""
    inside = target.inside if mask is None else target.inside & mask
    if len(np.unique(target.addresses[inside])) == np.count_nonzero(inside):
        old = read(frame, replace(target, inside=inside), np.zeros((), values.dtype))
        write(frame, replace(target, inside=inside), update(kind, old, values, target.element))
        return old
    old = np.zeros(values.shape, values.dtype)
    for place in zip(*np.nonzero(inside), strict=True):
        one = Scattered(target.element, target.addresses[place][None], np.ones(1, np.bool_))
        old[place] = read(frame, one, np.zeros((), values.dtype))[0]
        write(frame, one, update(kind, old[place][None], values[place][None], target.element))
    return old
