"""The tiles of C that each work-group of a GEMM's launch computes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Tile = tuple[int, int, int]  # matrix of the batch, row and column, counted in tiles


@dataclass(frozen=True, slots=True)
class WorkgroupTiles:
    """Tiles over M and N, the work-groups over them, and how these are numbered in x and y.

    A work-group computes the tile at its own place, and where there are more tiles than work-groups those that lie a
    multiple of the work-groups further, along both axes. Tiles of `experts`, the rows of tiles of each, are numbered
    expert by expert, and dealt to all work-groups in turn.
    """

    batch: int
    tiles: tuple[int, int]
    groups: tuple[int, int]
    along_n: bool
    raster_group: int
    experts: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """Tiles of all matrices of the batch."""
        return self.batch * self.tiles[0] * self.tiles[1]

    def all_tiles(self) -> Iterator[Tile]:
        """All tiles, row by row."""
        for entry in range(self.batch):
            for row in range(self.tiles[0]):
                for column in range(self.tiles[1]):
                    yield entry, row, column

    def group_of(self, row: int, column: int) -> int:
        """Return the work-group that computes a tile: its number among those of one matrix, x fastest."""
        if self.experts is not None:
            return self._number(row, column) % (self.groups[0] * self.groups[1])
        place = row % self.groups[0], column % self.groups[1]
        line, at = place if self.along_n else place[::-1]
        lines, across = self.groups if self.along_n else self.groups[::-1]
        if self.raster_group == 1:
            return line * across + at
        first = line - line % self.raster_group
        height = min(self.raster_group, lines - first)
        return first * across + at * height + (line - first)

    def computed_with(self, tiles: Iterable[Tile]) -> frozenset[Tile]:
        """Return these tiles and all others that their work-groups compute."""
        if self.experts is not None:
            groups = {self.group_of(row, column) for _, row, column in tiles}
            return frozenset(tile for tile in self.all_tiles() if self.group_of(*tile[1:]) in groups)
        starts = {(entry, row % self.groups[0], column % self.groups[1]) for entry, row, column in tiles}
        return frozenset(tile for start in starts for tile in self._of(start))

    def _number(self, row: int, column: int) -> int:
        """Return the number of a tile of the experts."""
        if self.along_n:
            return row * self.tiles[1] + column
        first = 0
        for down in self.experts or ():
            if row < first + down:
                return first * self.tiles[1] + column * down + row - first
            first += down
        raise IndexError(row)

    def _of(self, start: Tile) -> Iterator[Tile]:
        entry, first_row, first_column = start
        for row in range(first_row, self.tiles[0], self.groups[0]):
            for column in range(first_column, self.tiles[1], self.groups[1]):
                yield entry, row, column
