"""The memory of a launch: what the caller gives for which argument, and what nobody gives."""

import numpy as np

from hal.device import Buffer, LaunchSpec

SCRATCH_POISON = np.uint8(0xFF)
"""Fills scratch memory: NaN for a kernel that reads floats there, -1 for one that reads integers."""


def given_buffers(launch: LaunchSpec, buffers: tuple[Buffer, ...]) -> dict[int, Buffer]:
    """The caller's buffers by the index of their argument; scratch has none.

    Raises:
        ValueError: too many, too few, of another size than the argument, or what is written overlaps another one.
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
    """What a kernel writes, no other argument may share: which one comes first would decide what is read."""
    for index, buffer in given.items():
        if launch.arguments[index].role == "input":
            continue
        for other, shared in given.items():
            if other != index and np.may_share_memory(buffer, shared):
                names = launch.arguments[index].name, launch.arguments[other].name
                raise ValueError(f"{launch.title} writes {names[0]}, which shares memory with {names[1]}")
