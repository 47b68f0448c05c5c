"""Operands of vector micro-kernels: packed panels, or the matrices themselves.

A step is what one instruction takes of K: `group` elements. Offsets are in bytes from where the step begins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.config.cpu import Packing
from codegen.cpu.emit.elements import (
    Elements,
    elements_of,
)
from codegen.cpu.emit.writer import (
    Function,
    mask,
)
from codegen.cpu.isa import Multiply
from codegen.cpu.microkernel.products import Products
from codegen.cpu.nest.columns import Strip
from codegen.cpu.nest.plan import (
    GROUP_BYTES,
    LINE,
    Plan,
)
from codegen.cpu.pack.interleave import write_interleaved
from codegen.problem.dtype import DType


@dataclass(frozen=True, slots=True)
class RowsOfA:
    """Groups of rows of A, one at a time, broadcast to all lanes."""

    f: Function
    plan: Plan

    @property
    def is_direct(self) -> bool:
        """Return whether A is read in place."""
        return self.plan.packs_a is Packing.NONE

    @property
    def step_bytes(self) -> int:
        """Bytes from one step to the next."""
        if not self.is_direct:
            return self.plan.mr * GROUP_BYTES
        return self._element_bytes * (self.plan.problem.pitch_a if self._transposed else self.plan.group)

    def value(self, pointer: str, step: int, row: int) -> str:
        """Load the group of a row."""
        pointer = self.f.at(pointer, step * self.step_bytes + self._row_offset(row))
        if self.plan.multiply is not Multiply.F32:
            return self._as_factors(self.f.load("i32", pointer, 1))
        dtype = self.plan.problem.dtype_a if self.is_direct else DType.F32
        f, elements = self.f, self._elements
        match dtype:
            case DType.F16:
                # Broadcast first: two instructions, where converting the scalar to f32 takes three.
                return elements.widened(elements.same("half", f.load("half", pointer, 2)), dtype)
            case DType.BF16:
                return elements.same_bf16(f.load("i16", pointer, 2))
            case _:
                return elements.same("float", f.load("float", pointer, 4))

    def tail(self, pointer: str, row: int, count: int) -> str:
        """Load a group of which only the first `count` elements are inside, zeros beyond; nothing beyond is read."""
        if not self.is_direct:
            return self.value(pointer, 0, row)
        f, bits = self.f, 8 * self._element_bytes
        together = "0"
        for n in range(count):
            place = f.at(pointer, self._row_offset(row) + n * self._element_bytes)
            wide = f.op(f"zext i{bits} {f.load(f'i{bits}', place, self._element_bytes)} to i32")
            together = wide if n == 0 else f.op(f"or i32 {together}, {f.op(f'shl i32 {wide}, {n * bits}')}")
        return self._as_factors(together)

    def prefetched(self, steps: int) -> Iterator[int]:
        """Return the offsets of the cache lines that some steps read."""
        if not self.is_direct:
            yield from range(0, steps * self.step_bytes, LINE)
        elif self._transposed:
            for step in range(steps):
                yield from (step * self.step_bytes + at for at in range(0, self.plan.mr * self._element_bytes, LINE))
        else:
            yield from (self._row_offset(row) for row in range(self.plan.mr))

    @property
    def _transposed(self) -> bool:
        return self.plan.problem.transpose_a

    @property
    def _element_bytes(self) -> int:
        return self.plan.problem.dtype_a.nbytes

    @property
    def _elements(self) -> Elements:
        return elements_of(self.f, self.plan)

    def _row_offset(self, row: int) -> int:
        if not self.is_direct:
            return row * GROUP_BYTES
        return row * self._element_bytes * (1 if self._transposed else self.plan.problem.pitch_a)

    def _as_factors(self, group: str) -> str:
        products, kind = Products(self.f, self.plan), f"<{self.plan.lanes} x i32>"
        value = self.f.op(f"bitcast {kind} {self._elements.same('i32', group)} to {products.factors}")
        if self.is_direct and self.plan.shifted:
            return self.f.op(f"xor {products.factors} {value}, {products.shift}")
        return value


@dataclass(frozen=True, slots=True)
class ColumnsOfB:
    """Vectors of columns of B, a group of each column; `is_direct`: B is read in place, else from a panel."""

    f: Function
    plan: Plan
    vectors: Sequence[Strip]
    is_direct: bool

    @property
    def step_bytes(self) -> int:
        """Bytes from one step to the next."""
        return self.plan.group * self._row_bytes if self.is_direct else self.panel_bytes

    @property
    def panel_bytes(self) -> int:
        """Bytes of a panel from one step to the next."""
        return self.plan.width * GROUP_BYTES

    def value(self, pointer: str, step: int, vector: int) -> str:
        """Load a vector of groups."""
        if self.is_direct:
            return self.tail(self.f.at(pointer, step * self.step_bytes), vector, self.plan.group)
        place = self._in_panel(pointer, step, vector)
        return self.f.load(Products(self.f, self.plan).factors, place, self.plan.element_bytes)

    def pack(self, value: str, panel: str, step: int, vector: int) -> None:
        """Store a vector of groups in a panel."""
        place = self._in_panel(panel, step, vector)
        self.f.store(Products(self.f, self.plan).factors, value, place, self.plan.element_bytes)

    def tail(self, pointer: str, vector: int, count: int) -> str:
        """Load a vector of groups of which only the first `count` rows are inside, zeros beyond; nothing beyond is
        read.
        """
        if not self.is_direct:
            return self.value(pointer, 0, vector)
        dtype, strip = self.plan.problem.dtype_b, self.vectors[vector]
        place = self.f.at(pointer, strip.memory * dtype.nbytes)
        elements = elements_of(self.f, self.plan)
        rows = [elements.load(self.f.at(place, n * self._row_bytes), dtype, strip.count) for n in range(count)]
        if self.plan.multiply is Multiply.F32:
            return elements.widened(rows[0], dtype)
        rows += ["zeroinitializer"] * (self.plan.group - count)
        return self._interleaved(rows, f"i{8 * dtype.nbytes}")

    def correction(self, pointer: str, depth: str | int, vector: int) -> str:
        """Load the correction of a packed panel for a vector of columns: 128 times their sums, where A is shifted."""
        unit, width = self.plan.depth_unit, self.plan.width
        assert unit == self.plan.group, "vectors are as deep as a group"
        groups = self.f.div(self.f.add(depth, unit - 1), unit)
        place = self.f.add(self.f.mul(groups, width * GROUP_BYTES), self.vectors[vector].place * GROUP_BYTES)
        return self.f.load(f"<{self.plan.lanes} x i32>", self.f.at(pointer, place), 4)

    def prefetched(self, steps: int) -> Iterator[int]:
        """Return the offsets of the cache lines that some steps read."""
        if not self.is_direct:
            yield from range(0, steps * self.step_bytes, LINE)
            return
        for row in range(steps * self.plan.group):
            for strip in self.plan.columns.strips(self.plan.nr):
                nbytes = self.plan.problem.dtype_b.nbytes
                begin = row * self._row_bytes + strip.memory * nbytes
                yield from range(begin, begin + strip.count * nbytes, LINE)

    def _in_panel(self, panel: str, step: int, vector: int) -> str:
        return self.f.at(panel, step * self.panel_bytes + self.vectors[vector].place * GROUP_BYTES)

    @property
    def _row_bytes(self) -> int:
        return self.plan.problem.pitch_b * self.plan.problem.dtype_b.nbytes

    def _interleaved(self, rows: list[str], element: str) -> str:
        """Interleave the elements of the rows, as factors."""
        f, lanes, products = self.f, self.plan.lanes, Products(self.f, self.plan)
        if self.plan.group == GROUP_BYTES:
            words = f"<{lanes} x i32>"
            return f.op(f"bitcast {words} {write_interleaved(f, self.plan.isa, rows)} to {products.factors}")
        count = 2 * lanes
        kind, turns = f"<{lanes} x {element}>", mask([n // 2 + n % 2 * lanes for n in range(count)])
        value = f.op(f"shufflevector {kind} {rows[0]}, {kind} {rows[1]}, {turns}")
        return f.op(f"bitcast <{count} x {element}> {value} to {products.factors}")
