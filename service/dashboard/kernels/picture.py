"""Drawing of a zoom of a tiling: B above C, A left of it, so that rows and columns meet where they are
multiplied.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from service.dashboard.kernels.tiling import Matrix, Size, Zoom

_LONGEST, _SHORTEST = 150.0, 26.0  # of a matrix's side, in units of the picture
_LEFT, _TOP, _GAP = 14.0, 22.0, 26.0
_LEAST_CELL = 3.0  # smaller cells are not drawn


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle and its class of style."""

    x: float
    y: float
    width: float
    height: float
    style: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a grid as the `d` of a path."""

    path: str
    style: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text that begins at a point."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Elements of a picture. `to_scale` is False if a short side was enlarged to be visible."""

    title: str
    text: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Lines, ...]
    labels: tuple[Label, ...]
    to_scale: bool

    @property
    def description(self) -> str:
        """The picture for those who cannot see it."""
        return f"{self.text} {'; '.join(label.text for label in self.labels)}."


def draw(zoom: Zoom) -> Picture:
    """The picture of a zoom."""
    (m, n), k = zoom.c.size, zoom.a.size[1]
    scale = _LONGEST / max(m, n, k)
    height, width, depth = (max(_SHORTEST, side * scale) for side in (m, n, k))
    x, y = _LEFT + depth + _GAP, _TOP + depth + _GAP
    placed = (
        (zoom.a, _LEFT, y, depth, height),
        (zoom.b, x, _TOP, width, depth),
        (zoom.c, x, y, width, height),
    )
    labels = tuple(
        Label(left, top - 6, f"{each.name} {each.size[0]:,} x {each.size[1]:,}") for each, left, top, *_ in placed
    )
    return Picture(
        title=zoom.title,
        text=zoom.text,
        width=max(x + width, *(label.x + 7 * len(label.text) for label in labels)) + 4,
        height=y + height + 4,
        boxes=tuple(box for each, *place in placed for box in _boxes(each, *place)),
        lines=tuple(line for each, *place in placed for line in _lines(each, *place)),
        labels=labels,
        to_scale=min(m, n, k) * scale >= _SHORTEST,
    )


def _boxes(matrix: Matrix, x: float, y: float, width: float, height: float) -> Iterator[Box]:
    down, across = height / matrix.size[0], width / matrix.size[1]

    def box(size: Size, style: str) -> Box:
        rows, columns = (min(part, whole) for part, whole in zip(size, matrix.size, strict=True))
        return Box(x, y, max(_LEAST_CELL, columns * across), max(_LEAST_CELL, rows * down), style)

    yield box(matrix.size, f"whole whole-{matrix.name.lower()}")
    if matrix.band is not None:
        yield box(matrix.band, "band")
    yield box(matrix.grid, "part")


def _lines(matrix: Matrix, x: float, y: float, width: float, height: float) -> Iterator[Lines]:
    down, across = height / matrix.size[0], width / matrix.size[1]
    if matrix.inner is not None:
        part = min(matrix.grid[0], matrix.size[0]), min(matrix.grid[1], matrix.size[1])
        yield Lines(_grid(part, matrix.inner, x, y, down, across), "inner")
    yield Lines(_grid(matrix.size, matrix.grid, x, y, down, across), "grid")


def _grid(size: Size, cell: Size, x: float, y: float, down: float, across: float) -> str:
    (rows, columns), (r, c) = size, cell
    at_rows = range(r, rows, r) if r * down >= _LEAST_CELL else ()
    at_columns = range(c, columns, c) if c * across >= _LEAST_CELL else ()
    strokes = [f"M{x:.1f} {y + at * down:.1f}h{columns * across:.1f}" for at in at_rows]
    strokes += [f"M{x + at * across:.1f} {y:.1f}v{rows * down:.1f}" for at in at_columns]
    return "".join(strokes)
