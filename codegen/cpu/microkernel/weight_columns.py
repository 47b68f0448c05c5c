"""Columns of a transposed B of weights that is read in place: codes are decoded in registers, step by step along K."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.cpu.emit.elements import stored
from codegen.cpu.emit.memory import Memory
from codegen.cpu.emit.weights import Weights
from codegen.cpu.emit.writer import Value
from codegen.cpu.microkernel.products import Products
from codegen.cpu.microkernel.tile import Tile
from codegen.problem.dtype import DType
from codegen.problem.gemm import SCALE_B, ZERO_B


@dataclass(frozen=True, slots=True)
class Ready:
    """Constants of a column over a span of K: the table of its 16 codes, or its scale and zero point, "" for none."""

    table: Sequence[str]
    scale: str = ""
    zero: str = ""


@dataclass(frozen=True, slots=True)
class WeightColumns:
    """Columns of a tile."""

    tile: Tile

    @property
    def _weights(self) -> Weights:
        return Weights(self.tile.f, self.tile.plan)

    @property
    def _by_table(self) -> bool:
        return self.tile.plan.problem.dtype_b.bits == 4

    def spans(self) -> list[tuple[int, int]]:
        """Return lengths of spans of K with one scale, each with how many there are one after another."""
        k, quantization = self.tile.plan.problem.k, self.tile.plan.problem.quantization
        group = k if quantization is None else min(k, quantization.group or k)
        return [(length, count) for length, count in ((group, k // group), (k % group, 1)) if length]

    def step_bytes(self, elements: int) -> int:
        """Return the bytes of a row that hold that many elements along K."""
        return elements * self.tile.plan.problem.dtype_b.bits // 8

    def ready(self, group: Value) -> list[Ready]:
        """Load the scales and zero points of the tile's columns in a group."""
        return self.some(range(len(self.tile.lines)), group)

    def some(self, columns: Iterable[int], group: Value) -> list[Ready]:
        """Load those of some columns."""
        return [self._ready(column, group) for column in columns]

    def value(self, pointer: str, column: int, ready: Ready, count: int) -> str:
        """Load and decode the elements of a step of a column, `count` of them if not 0, as factors."""
        f, plan, weights = self.tile.f, self.tile.plan, self._weights
        row = f.at(pointer, self.tile.lines[column].memory * plan.problem.pitch_b * plan.problem.dtype_b.nbytes)
        if self._by_table:
            found = weights.looked_up(row, ready.table, count)
        else:
            found = weights.along(row, ready.scale, ready.zero, count)
        if plan.group == 1:
            return found
        return f.op(f"bitcast {weights.integers} {found} to {Products(f, plan).factors}")

    def by_lanes(self, pointer: str, column: int, ready: Ready) -> list[str]:
        """Load and decode a cache line of codes of 4 bits of a column, in `Weights.by_lanes` order, as factors."""
        f, plan = self.tile.f, self.tile.plan
        row = f.at(pointer, self.tile.lines[column].memory * plan.problem.pitch_b * plan.problem.dtype_b.nbytes)
        factors = Products(f, plan).factors
        found = self._weights.by_lanes(row, ready.table)
        return [f.op(f"bitcast {self._weights.table_kind} {value} to {factors}") for value in found]

    def _ready(self, column: int, group: Value) -> Ready:
        scale = zero = ""
        if self.tile.plan.problem.quantization is not None:
            scale = self._scale(*self._stored(SCALE_B, column, group))
        if any(operand.name == ZERO_B for operand in self.tile.plan.problem.operands):
            stored, dtype = self._stored(ZERO_B, column, group)
            zero = self._weights.zero(self._weights.elements.same(f"i{8 * dtype.nbytes}", stored), group)
        return Ready(self._weights.table(scale, zero)) if self._by_table else Ready((), scale, zero)

    def _scale(self, one: str, dtype: DType) -> str:
        """Convert a scale to f32 in all lanes."""
        elements = self._weights.elements
        if dtype is DType.BF16:
            return elements.same_bf16(one)
        return self._weights.scale(elements.same(stored(dtype), one), dtype)

    def _stored(self, name: str, column: int, group: Value) -> tuple[str, DType]:
        """Load the element of a column in a group, and return its type too."""
        f, plan = self.tile.f, self.tile.plan
        number, operand = next((n, o) for n, o in enumerate(plan.problem.operands) if o.name == name)
        row = f.mul(f.div(group, operand.dtype.packed), operand.pitch)
        first = f.add(plan.columns.first(f, "%column"), self.tile.lines[column].memory)
        element = f.add(f.add(f.mul("%matrix", operand.batch_stride), row), first)
        place = f.at(Memory(f, plan).pointer(number), f.mul(element, operand.dtype.nbytes))
        kind = f"i{8 * operand.dtype.nbytes}" if name == ZERO_B else stored(operand.dtype)
        return f.load(kind, place, operand.dtype.nbytes), operand.dtype
