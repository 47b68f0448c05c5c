"""Buffers of a launch are checked before any work."""

import numpy as np
import pytest

from hal import Argument, LaunchSpec, LaunchStep
from hal.opencl.buffers import given_buffers

SPEC = LaunchSpec(
    binary=b"",
    arguments=(Argument("A", "input", "f32", 64), Argument("C", "output", "f32", 64)),
    steps=(LaunchStep("k", (0, 1), (16, 1, 1), (16, 1, 1)),),
    subgroup_size=16,
    build_options="",
)


def test_buffers_that_lie_apart_are_taken() -> None:
    memory = np.zeros(32, np.float32)
    assert sorted(given_buffers(SPEC, (memory[:16], memory[16:]))) == [0, 1]


@pytest.mark.parametrize("first", [0, 1, 15])
def test_what_is_written_may_not_overlap_what_is_read(first: int) -> None:
    memory = np.zeros(32, np.float32)
    with pytest.raises(ValueError, match="writes C, which shares memory with A"):
        given_buffers(SPEC, (memory[:16], memory[first : first + 16]))
