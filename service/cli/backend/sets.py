"""A set of shapes as a command asks for it, whoever answers."""

from dataclasses import dataclass

from service.api.shapes.requests import SetSearch
from tuner.shapes.fields import Base
from tuner.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class SetAsked:
    """What `xetune tune --shapes` asks for: `shapes` are those of `source`; `within` is a fraction."""

    source: str
    shapes: tuple[Shape, ...]
    base: Base
    device: str
    target: str | None
    trials: int
    seconds: float
    seed: int
    within: float
    search: SetSearch
