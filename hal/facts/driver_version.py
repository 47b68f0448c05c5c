"""Comparison of driver versions, which OpenCL and Level Zero state in different forms.

Intel's driver 25.18.33578.15 is that in OpenCL and 1.6.33578+15 in Level Zero: build and hotfix are the same numbers.
"""

import re

_OPENCL = re.compile(r"\d{2}\.\d{1,2}\.(\d{5,})(?:\.(\d+))?")
_LEVEL_ZERO = re.compile(r"\d\.\d{1,2}\.(\d{5,})(?:\+(\d+))?")


def is_same_driver(one: str, other: str) -> bool:
    """Return whether two texts name the same version of a driver; a hotfix counts if both state one."""
    first, second = _build(one), _build(other)
    if one == other or first is None or second is None:
        return one == other
    return first[0] == second[0] and (first[1] == second[1] or None in (first[1], second[1]))


def _build(text: str) -> tuple[int, int | None] | None:
    found = _OPENCL.fullmatch(text) or _LEVEL_ZERO.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]) if found[2] else None)
