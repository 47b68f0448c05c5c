"""The tiling of a kernel as files: all of its pictures in one drawing, and its numbers."""

import csv
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from service.dashboard.kernels.picture import Picture
from service.dashboard.kernels.tiling import Level

_COLUMN, _LINE, _GAP, _MARGIN = 60, 15.0, 30.0, 16.0  # characters; units of the picture


@dataclass(frozen=True, slots=True)
class Placed:
    """A picture in a drawing, and its text in lines, from `y` on down."""

    picture: Picture
    number: int
    y: float
    lines: tuple[str, ...]

    @property
    def picture_y(self) -> float:
        """Top of the picture, below its text."""
        return self.y + _LINE * (len(self.lines) + 1) + 6


@dataclass(frozen=True, slots=True)
class Drawing:
    """Pictures one under the other."""

    width: float
    height: float
    placed: tuple[Placed, ...]


def drawing(pictures: Sequence[Picture]) -> Drawing:
    """The pictures with their texts, placed."""
    placed: list[Placed] = []
    y = _MARGIN + 2 * _LINE + _GAP
    for number, picture in enumerate(pictures, 1):
        lines = textwrap.wrap(picture.text, _COLUMN)
        lines += [] if picture.to_scale else ["Not to scale: short sides are drawn longer."]
        placed.append(Placed(picture, number, y, tuple(lines)))
        y = placed[-1].picture_y + picture.height + _GAP
    width = max([7.0 * _COLUMN, *(picture.width for picture in pictures)]) + 2 * _MARGIN
    return Drawing(width, y, tuple(placed))


def levels_csv(levels: Sequence[Level]) -> str:
    """The table behind the pictures; an empty cell where a level has no such extent."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["level", "M (elements)", "N (elements)", "K (elements)", "how many"])
    for level in levels:
        writer.writerow([level.name, level.m, level.n, level.k, level.count])
    return text.getvalue()
