"""Dot-product micro-kernel for a transposed B read in place: rows of A and of stored B multiplied along K."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.cpu.emit.elements import Elements
from codegen.cpu.emit.vector_math import Floats
from codegen.cpu.emit.writer import Value
from codegen.cpu.isa import Multiply
from codegen.cpu.microkernel.products import Products
from codegen.cpu.microkernel.tile import Tile
from codegen.cpu.microkernel.weight_columns import Ready, WeightColumns
from codegen.cpu.nest.plan import (
    LINE,
    SUM_BYTES,
)
from codegen.problem.dtype import DType


def write_dot_tile(tile: Tile) -> None:
    """Write the body of a tile's function."""
    kernel = _Kernel(tile, Products(tile.f, tile.plan))
    kernel.keep(kernel.multiplied())
    tile.leave_kept()


@dataclass(frozen=True, slots=True)
class _State:
    """State between steps: addresses in A and B, and sums: row by row, then the correction of each column."""

    a: str
    b: str
    sums: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Kernel:
    tile: Tile
    products: Products

    @property
    def elements(self) -> int:
        """Elements along K of one step."""
        return self.tile.plan.lanes * self.tile.plan.group

    def multiplied(self) -> _State:
        """Return the products of the whole K block, in lanes."""
        f, plan, tile = self.tile.f, self.tile.plan, self.tile
        count = (tile.rows + (1 if plan.shifted else 0)) * len(tile.lines)
        state = _State("%a", "%b", ["zeroinitializer"] * count)
        if plan.problem.has_weights:
            return self._of_weights(state)
        steps = f.div(tile.depth, self.elements)
        unroll = tile.unrolled(self.elements)
        whole = f.mul(f.div(steps, unroll), unroll)
        state = self._loop(state, 0, whole, unroll)
        if plan.last_depth // self.elements % unroll:
            state = self._loop(state, whole, steps, 1)
        return self._with_tail(state, rest) if (rest := plan.last_depth % self.elements) else state

    def _of_weights(self, state: _State) -> _State:
        """Add the products with weights, one group of K after another; there is one K block."""
        f, groups, columns = self.tile.f, 0, WeightColumns(self.tile)
        for length, count in columns.spans():
            if count == 1:
                state = self._span(state, length, columns.ready(groups))
            else:
                carried = [("ptr", state.a), ("ptr", state.b), *((self.products.sums, value) for value in state.sums)]
                with f.loop(0, count, 1, carried) as loop:
                    a, b, *sums = loop.carried
                    after = self._span(_State(a, b, sums), length, columns.ready(loop.index))
                    loop.next([after.a, after.b, *after.sums])
                a, b, *sums = loop.results
                state = _State(a, b, sums)
            groups += count
        return state

    def _span(self, state: _State, length: int, ready: Sequence[Ready]) -> _State:
        """Add the products of that many elements along K, over which scales hold."""
        steps, rest = divmod(length, self.elements)
        unroll = min(max(1, steps), self.tile.unrolled(self.elements))
        whole = steps // unroll * unroll
        state = self._loop(state, 0, whole, unroll, ready)
        state = self._loop(state, whole, steps, 1, ready)
        if not rest:
            return state
        rows, columns = self._rows_of_a(state.a, 0, rest), self._columns(state.b, 0, ready, rest)
        return _State(state.a, state.b, self._added(state.sums, rows, columns))

    def keep(self, state: _State) -> None:
        """Reduce lanes, add the sums of earlier K blocks, and store them."""
        f, tile, totals = self.tile.f, self.tile, [self.products.total(value) for value in state.sums]
        lines = tile.lines
        excess = totals[tile.rows * len(lines) :]
        for r in range(tile.rows):
            for c, line in enumerate(lines):
                value = totals[r * len(lines) + c]
                if excess:
                    value = f.op(f"sub i32 {value}, {excess[c]}")
                place = tile.sums_at(r, line.place)
                if not tile.once:
                    value = self._with_earlier(value, place)
                f.store(tile.sum_kind, value, place, SUM_BYTES)

    def _with_earlier(self, value: str, place: str) -> str:
        f, kind = self.tile.f, self.tile.sum_kind
        # What the memory holds before the first block may be a NaN, so it is chosen away before it is added.
        found = f.op(f"select i1 %first, {kind} zeroinitializer, {kind} {f.load(kind, place, SUM_BYTES)}")
        return f.op(f"{'fadd' if kind == 'float' else 'add'} {kind} {value}, {found}")

    def _loop(
        self, state: _State, low: Value, high: Value, unroll: int, ready: Sequence[Ready] | None = None
    ) -> _State:
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return state
        f, p = self.tile.f, self.tile.plan.problem
        elements = unroll * self.elements
        carried = [("ptr", state.a), ("ptr", state.b), *((self.products.sums, value) for value in state.sums)]
        with f.loop(low, high, unroll, carried) as loop:
            a, b, *sums = loop.carried
            self._prefetch(a, b, unroll)
            for step in range(unroll):
                columns = self._rows_of_b(b, step) if ready is None else self._columns(b, step, ready)
                sums = self._added(sums, self._rows_of_a(a, step), columns)
            bytes_b = elements * p.dtype_b.bits // 8
            loop.next([f.at(a, elements * p.dtype_a.nbytes), f.at(b, bytes_b), *sums])
        a, b, *sums = loop.results
        return _State(a, b, sums)

    def _with_tail(self, state: _State, count: int) -> _State:
        """Add the products of the K remainder of the last block, which does not fill a vector."""
        f, tile = self.tile.f, self.tile

        def tailed() -> list[str]:
            return self._added(state.sums, self._rows_of_a(state.a, 0, count), self._rows_of_b(state.b, 0, count))

        if tile.once:
            return _State(state.a, state.b, tailed())
        left = f.compare("ne", f.rem(tile.depth, self.elements), 0)
        kinds = [self.products.sums] * len(state.sums)
        return _State(state.a, state.b, f.either(left, kinds, tailed, lambda: state.sums))

    def _added(self, sums: Sequence[str], row: Callable[[int], str], column: Callable[[int], str]) -> list[str]:
        """Add the products of one step; of A and B, the one with fewer vectors stays in registers."""
        tile, added, columns = self.tile, list(sums), len(self.tile.lines)
        few = tile.rows <= columns
        kept = [row(r) for r in range(tile.rows)] if few else [column(c) for c in range(columns)]
        for other in range(columns if few else tile.rows):
            value = column(other) if few else row(other)
            for n, one in enumerate(kept):
                r, c = (n, other) if few else (other, n)
                a, b = (one, value) if few else (value, one)
                place = r * columns + c
                added[place] = self.products.add(added[place], a, b)
            if few and tile.plan.shifted:
                self._add_excess(added, other, value)
        if not few and tile.plan.shifted:
            for c, value in enumerate(kept):
                self._add_excess(added, c, value)
        return added

    def _add_excess(self, sums: list[str], column: int, b: str) -> None:
        place = self.tile.rows * len(self.tile.lines) + column
        sums[place] = self.products.add(sums[place], self.products.shift, b)

    def _rows_of_a(self, pointer: str, step: int, count: int = 0) -> Callable[[int], str]:
        p = self.tile.plan.problem

        def row(number: int) -> str:
            value = self._vector(pointer, number * p.pitch_a, step, p.dtype_a, count)
            if not self.tile.plan.shifted:
                return value
            return self.tile.f.op(f"xor {self.products.factors} {value}, {self.products.shift}")

        return row

    def _rows_of_b(self, pointer: str, step: int, count: int = 0) -> Callable[[int], str]:
        p = self.tile.plan.problem
        lines = self.tile.lines
        return lambda number: self._vector(pointer, lines[number].memory * p.pitch_b, step, p.dtype_b, count)

    def _columns(self, pointer: str, step: int, ready: Sequence[Ready], count: int = 0) -> Callable[[int], str]:
        columns = WeightColumns(self.tile)
        place = self.tile.f.at(pointer, columns.step_bytes(step * self.elements))
        return lambda number: columns.value(place, number, ready[number], count)

    def _vector(self, pointer: str, row: int, step: int, dtype: DType, count: int) -> str:
        """Load the elements of a step, `count` of them if not 0, as factors."""
        f, plan = self.tile.f, self.tile.plan
        elements = Elements(Floats(f, self.elements, scales=False), rounds_bf16=False)
        place = f.at(pointer, (row + step * self.elements) * dtype.nbytes)
        value = elements.load(place, dtype, count or self.elements)
        if plan.multiply is Multiply.F32:
            return elements.widened(value, dtype)
        return f.op(f"bitcast {elements.kind(dtype)} {value} to {self.products.factors}")

    def _prefetch(self, a: str, b: str, steps: int) -> None:
        plan = self.tile.plan
        p, distance = plan.problem, plan.config.strategy.prefetch_distance * plan.config.matmul.innermost.k
        if not distance:
            return
        for pointer, rows, pitch, dtype in (
            (a, range(self.tile.rows), p.pitch_a, p.dtype_a),
            (b, [line.memory for line in self.tile.lines], p.pitch_b, p.dtype_b),
        ):
            ahead = distance * dtype.bits // 8
            for row in rows:
                for offset in range(0, steps * self.elements * dtype.bits // 8, LINE):
                    self.tile.prefetch(pointer, row * pitch * dtype.nbytes + ahead + offset)
