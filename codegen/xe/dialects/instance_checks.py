"""Checks of instances of xDSL's classes by inheritance alone.

They are abstract classes, whose checks also look for classes that were registered with them, in twice the time.
"""

from abc import ABCMeta
from collections.abc import Iterator
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue


class _ByInheritance(ABCMeta):
    __instancecheck__ = type.__instancecheck__


def check_instances_by_inheritance() -> None:
    """Let `isinstance` look at inheritance alone, for all classes of IR that are loaded and those derived later."""
    for kind in (kind for base in (Attribute, Block, Operation, Region, SSAValue) for kind in kinds(base)):
        if type(kind) is ABCMeta:
            kind.__class__ = _ByInheritance


def kinds(base: type[Any]) -> Iterator[type[Any]]:
    """Yield a class and all derived from it."""
    yield base
    for kind in base.__subclasses__():
        yield from kinds(kind)
