"""Columns of B that a tile of C needs: of a gate, those of two products, in one strip of memory or in two."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.cpu.emit.writer import Function, Value
from codegen.problem.gemm import GemmProblem


@dataclass(frozen=True, slots=True)
class Strip:
    """`count` columns side by side: in memory `memory` columns from the first of a tile, of its sums from `place`."""

    memory: int
    place: int
    count: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns behind tiles of `nr` columns of C.

    Where blocks of the two products alternate and divide a tile, the tile's columns of B are contiguous, and its sums
    are in their order. Else the sums of the first product come first, then those of the second, `nr` columns each.
    """

    problem: GemmProblem
    nr: int

    @property
    def block(self) -> int:
        """Columns of one product that are contiguous in B."""
        gate = self.problem.gate
        return self.problem.n if gate is None or gate.interleave is None else gate.interleave

    @property
    def alternate(self) -> bool:
        """Return whether a tile holds whole blocks of both products."""
        gate = self.problem.gate
        return gate is not None and gate.interleave is not None and self.nr % gate.interleave == 0

    @property
    def fits(self) -> bool:
        """Return whether no tile begins within one block and ends in another without holding whole ones."""
        return self.alternate or self.block == self.problem.n or self.block % self.nr == 0

    def first(self, f: Function, column: Value) -> Value:
        """Return the first column of B of a tile that begins at `column` of C."""
        if self.alternate:
            return f.mul(column, 2)
        if self.block == self.problem.n:
            return column
        return f.add(column, f.mul(f.div(column, self.block), self.block))

    def strips(self, columns: int) -> Iterator[Strip]:
        """Yield the strips of a tile of that many columns of C."""
        if self.problem.gate is None:
            yield Strip(0, 0, columns)
        elif self.alternate:
            yield Strip(0, 0, 2 * columns)
        else:
            yield Strip(0, 0, columns)
            yield Strip(self.block, self.nr, columns)

    def vectors(self, columns: int, lanes: int) -> tuple[Strip, ...]:
        """Return the strips of a tile cut into vectors of at most `lanes` columns."""
        return tuple(
            Strip(strip.memory + first, strip.place + first, min(lanes, strip.count - first))
            for strip in self.strips(columns)
            for first in range(0, strip.count, lanes)
        )

    def sum_of(self, product: int, column: int) -> int:
        """Return the column of a tile's sums that holds a product's column."""
        if not self.alternate:
            return product * self.nr + column
        return column // self.block * 2 * self.block + product * self.block + column % self.block
