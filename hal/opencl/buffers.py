"""Buffers of a launch: those that the caller passes, by argument, and scratch memory."""

import numpy as np

from hal.buffer import Buffer
from hal.device import LaunchSpec

SCRATCH_POISON = np.uint8(0xFF)
"""Fill value of scratch memory: NaN if a kernel reads floats there, -1 if it reads integers."""


def given_buffers(launch: LaunchSpec, buffers: tuple[Buffer, ...]) -> dict[int, Buffer]:
    """Return the caller's buffers by the index of their argument; scratch has none.

    Raises:
        ValueError: too many, too few, of a size that differs from the argument's, or a written one overlaps another.
    """
    named = [index for index, argument in enumerate(launch.arguments) if argument.role != "scratch"]
    if len(buffers) != len(named):
        raise ValueError(f"{launch.title} takes {len(named)} buffers, got {len(buffers)}")
    given = dict(zip(named, buffers, strict=True))
    for index, buffer in given.items():
        argument = launch.arguments[index]
        if buffer.nbytes != argument.nbytes:
            raise ValueError(
                f"argument {argument.name} of {launch.title} takes {argument.nbytes} bytes, got {buffer.nbytes}"
            )
    _check_apart(launch, given)
    return given


def _check_apart(launch: LaunchSpec, given: dict[int, Buffer]) -> None:
    """Check that written buffers share no memory with others: the result would depend on the order of accesses."""
    for index, buffer in given.items():
        if launch.arguments[index].role == "input":
            continue
        for other, shared in given.items():
            if other != index and np.may_share_memory(buffer, shared):
                names = launch.arguments[index].name, launch.arguments[other].name
                raise ValueError(f"{launch.title} writes {names[0]}, which shares memory with {names[1]}")
