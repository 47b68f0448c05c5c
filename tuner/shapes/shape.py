"""A problem of a set, with its weight."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from codegen import GemmProblem

MOST_SHAPES = 500
_SHOWN_NAMES = 3
_LONGEST_NAME = 1000  # equal problems join three names, with words between


@dataclass(frozen=True, slots=True)
class Shape:
    """A problem of a set. `weight` is its number of occurrences, in any unit; `name` is for people.

    Raises:
        ValueError: a weight that is not a positive number, a name that is not printable.
    """

    problem: GemmProblem
    weight: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ValueError(f"weight: expected a positive number, got {self.weight:g}")
        if len(self.name) > _LONGEST_NAME or not (self.name.isprintable()):
            raise ValueError(f"name: expected at most {_LONGEST_NAME} printable characters, got {self.name[:60]!r}")


def merged(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return each problem once, at its first position, with the sum of the weights and the joined names."""
    found: dict[GemmProblem, list[Shape]] = {}
    for shape in shapes:
        found.setdefault(shape.problem, []).append(shape)
    return tuple(_one(equal) for equal in found.values())


def _one(equal: list[Shape]) -> Shape:
    names = list(dict.fromkeys(shape.name for shape in equal if shape.name))
    more = [f"{len(names) - _SHOWN_NAMES} more"] if len(names) > _SHOWN_NAMES else []
    name = " and ".join([", ".join(names[:_SHOWN_NAMES]), *more]) if names else ""
    return replace(equal[0], weight=sum(shape.weight for shape in equal), name=name)
