"""Kernel under construction: its arguments, its lines, and the values in scope."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from tests.codegen.xe.fuzz.maps import Map, Shape
from tests.codegen.xe.fuzz.numbers import Numbers


class Level(StrEnum):
    """Level of a kernel; in `THREADS` each thread of the block is a sub-group."""

    WORKGROUP = "work-group"
    SUBGROUP = "sub-group"
    THREADS = "threads"


@dataclass(frozen=True, slots=True)
class Memory:
    """An argument: an array, by columns or by rows, or a number if it has no shape."""

    name: str
    element: str
    shape: tuple[int, ...] = ()
    type: str = ""
    by_columns: bool = False
    number: int = 0
    numbers: Numbers | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A vector, its map to sub-groups, and its range of numbers."""

    name: str
    shape: Shape
    map: Map | None
    numbers: Numbers

    @property
    def element(self) -> str:
        """The element type."""
        return self.numbers.element

    @property
    def type(self) -> str:
        """Its type as MLIR text."""
        return vector(self.shape, self.element)


def vector(shape: Shape, element: str) -> str:
    """Return the text of a vector type."""
    return f"vector<{shape[0]}x{shape[1]}x{element}>"


@dataclass
class Kernel:
    """A kernel and its launch: `groups` work-groups along x, of `subgroups` each.

    A `plain` kernel uses only whole matrices and the parts of them that MLIR's distribution supports.
    """

    rng: Random
    level: Level
    subgroups: int
    groups: int
    plain: bool = False
    arguments: list[Memory] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    depth: int = 0
    _count: int = 0

    @property
    def parts(self) -> int:
        """Number of parts of a matrix: one per work-group or per sub-group."""
        return self.groups if self.level is Level.WORKGROUP else self.groups * self.subgroups

    def name(self) -> str:
        """Return a new name."""
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("  " * self.depth + text)

    def let(self, text: str) -> str:
        """Append the definition of a value and return its name."""
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    @contextmanager
    def nested(self) -> Generator[None]:
        """Indent the lines of a nested region; its values go out of scope at its end."""
        kept = list(self.values)
        self.depth += 1
        yield
        self.depth -= 1
        self.values[:] = kept

    def argument(self, memory: Memory) -> Memory:
        """Append an argument."""
        self.arguments.append(memory)
        return memory

    @property
    def text(self) -> str:
        """Text of the module."""
        arguments = ", ".join(f"%{memory.name}: {memory.type}" for memory in self.arguments)
        body = "\n".join(f"    {line}" for line in [*_PLACES[self.level], *self.lines, "gpu.return"])
        said = {
            Level.WORKGROUP: f"known_block_size = array<i32: {16 * self.subgroups}, 1, 1>",
            Level.SUBGROUP: f"known_block_size = array<i32: {16 * self.subgroups}, 1, 1>",
            Level.THREADS: f"VectorComputeFunctionINTEL, known_block_size = array<i32: {self.subgroups}, 1, 1>",
        }[self.level]
        return (
            f"gpu.module @m {{\n  gpu.func @k({arguments}) kernel attributes {{{said}}} {{\n{body}\n  }}\n}}\n"
        ).replace("$SUBGROUPS", str(self.subgroups))


_CONSTANTS = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3)]
_OF_GROUPS = "%own = arith.muli %group, %subgroups : index"
_PLACES = {
    Level.WORKGROUP: [*_CONSTANTS, "%group = gpu.block_id x", "%part = arith.addi %group, %c0 : index"],
    Level.SUBGROUP: [
        *_CONSTANTS,
        "%group = gpu.block_id x",
        "%subgroup = gpu.subgroup_id : index",
        "%subgroups = arith.constant $SUBGROUPS : index",
        _OF_GROUPS,
        "%part = arith.addi %own, %subgroup : index",
    ],
    Level.THREADS: [
        *_CONSTANTS,
        "%group = gpu.block_id x",
        "%subgroup = gpu.thread_id x",
        "%subgroups = arith.constant $SUBGROUPS : index",
        _OF_GROUPS,
        "%part = arith.addi %own, %subgroup : index",
    ],
}
