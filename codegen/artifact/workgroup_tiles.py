"""The tiles of C that each work-group of a GEMM's launch computes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Tile = tuple[int, int, int]  # matrix of the batch, row and column, counted in tiles


@dataclass(frozen=True, slots=True)
class WorkgroupTiles:
    """Tiles over M and N, the work-groups over them, and how these are numbered in x and y.

    A work-group computes the tile at its own place, and where there are more tiles than work-groups those that lie a
    multiple of the work-groups further, along both axes.
    """

    batch: int
    tiles: tuple[int, int]
    groups: tuple[int, int]
    along_n: bool
    raster_group: int

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
        starts = {(entry, row % self.groups[0], column % self.groups[1]) for entry, row, column in tiles}
        return frozenset(tile for start in starts for tile in self._of(start))

    def _of(self, start: Tile) -> Iterator[Tile]:
        entry, first_row, first_column = start
        for row in range(first_row, self.tiles[0], self.groups[0]):
            for column in range(first_column, self.tiles[1], self.groups[1]):
                yield entry, row, column
