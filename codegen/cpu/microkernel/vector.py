"""Vector micro-kernel: broadcast rows of A times columns of B, accumulated in registers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codegen.config.cpu import Packing
from codegen.cpu.emit.writer import Value
from codegen.cpu.microkernel.next_panel import lines_along
from codegen.cpu.microkernel.operands import ColumnsOfB, RowsOfA
from codegen.cpu.microkernel.products import Products
from codegen.cpu.microkernel.tile import SOURCE, Tile

_ROWS_AHEAD = 8  # of a B that is packed while it is multiplied: each is on a page of its own


def write_vector_tile(tile: Tile) -> None:
    """Write the body of a tile's function."""
    f, plan = tile.f, tile.plan
    columns = ColumnsOfB(f, plan, tile.vectors, tile.copies or plan.packs_b is Packing.NONE)
    kernel = _Kernel(tile, RowsOfA(f, plan), columns, Products(f, plan))
    tile.leave(kernel.multiplied(tile.initial()))


@dataclass(frozen=True, slots=True)
class _State:
    """State between steps: addresses in A and B, the panel that is packed, and sums: row by row, then corrections."""

    a: str
    b: str
    panel: str
    sums: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Kernel:
    tile: Tile
    rows: RowsOfA
    columns: ColumnsOfB
    products: Products

    def multiplied(self, sums: Sequence[str]) -> list[str]:
        """Return the sums with the products of the whole K block added."""
        f, plan = self.tile.f, self.tile.plan
        extra = ["zeroinitializer"] * (len(self.tile.vectors) if self._corrects else 0)
        state = _State("%a", SOURCE if self.tile.copies else "%b", "%b", [*sums, *extra])
        # Panels end in zeros, matrices do not.
        tail = plan.last_depth % plan.group if self.rows.is_direct or self.columns.is_direct else 0
        steps = f.div(self.tile.depth if tail else f.add(self.tile.depth, plan.group - 1), plan.group)
        unroll = self.tile.unrolled(plan.group)
        whole = f.mul(f.div(steps, unroll), unroll)
        state = self._loop(state, 0, whole, unroll)
        last_steps = plan.last_depth // plan.group if tail else plan.padded(plan.last_depth) // plan.group
        if last_steps % unroll:
            state = self._loop(state, whole, steps, 1)
        if tail:
            state = self._with_tail(state, tail)
        count = self.tile.rows * len(self.tile.vectors)
        return self._corrected(state.sums[:count], state.sums[count:])

    @property
    def _corrects(self) -> bool:
        """Return whether the sums of B's columns are computed here; packed panels already hold them."""
        return self.tile.plan.shifted and self.columns.is_direct

    def _loop(self, state: _State, low: Value, high: Value, unroll: int) -> _State:
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return state
        f = self.tile.f
        carried = [
            ("ptr", state.a),
            ("ptr", state.b),
            ("ptr", state.panel),
            *((self.products.sums, value) for value in state.sums),
        ]
        count, ahead = len(carried), self.tile.ahead() if low == 0 else None
        with f.loop(low, high, unroll, [*carried, *(ahead.begin if ahead else [])]) as loop:
            a, b, panel, *sums = loop.carried[:count]
            self._prefetch(a, b, unroll)
            if low == 0:
                self._prefetch_rows_below(a, unroll)
            places = ahead.write(loop.carried[count:]) if ahead else []
            for step in range(unroll):
                rows, columns = self._rows(a, step), self._columns(b, panel, step)
                sums = self._added(sums, rows, columns)
            a, b = f.at(a, unroll * self.rows.step_bytes), f.at(b, unroll * self.columns.step_bytes)
            loop.next([a, b, f.at(panel, unroll * self.columns.panel_bytes), *sums, *places])
        a, b, panel, *sums = loop.results[:count]
        return _State(a, b, panel, sums)

    def _rows(self, pointer: str, step: int) -> Callable[[int], str]:
        return lambda row: self.rows.value(pointer, step, row)

    def _columns(self, pointer: str, panel: str, step: int) -> list[str]:
        values = [self.columns.value(pointer, step, vector) for vector in range(len(self.tile.vectors))]
        if self.tile.copies:
            for vector, value in enumerate(values):
                self.columns.pack(value, panel, step, vector)
        return values

    def _added(self, sums: Sequence[str], row: Callable[[int], str], columns: Sequence[str]) -> list[str]:
        """Add the products of one step; a row is loaded where it is used, so that it occupies a register briefly."""
        added: list[str] = []
        for r in range(self.tile.rows):
            a = row(r)
            before = sums[r * len(columns) : (r + 1) * len(columns)]
            added += [self.products.add(total, a, b) for total, b in zip(before, columns, strict=True)]
        if self._corrects:
            added += [
                self.products.add(total, self.products.shift, b)
                for total, b in zip(sums[len(added) :], columns, strict=True)
            ]
        return added

    def _with_tail(self, state: _State, count: int) -> _State:
        """Add the products of the last `count` elements along K, after the last whole step."""
        f, tile = self.tile.f, self.tile

        def tailed() -> list[str]:
            columns = [self.columns.tail(state.b, vector, count) for vector in range(len(tile.vectors))]
            return self._added(state.sums, lambda row: self.rows.tail(state.a, row, count), columns)

        if tile.once:
            return replace(state, sums=tailed())
        left = f.compare("ne", f.rem(tile.depth, tile.plan.group), 0)
        kinds = [self.products.sums] * len(state.sums)
        return replace(state, sums=f.either(left, kinds, tailed, lambda: state.sums))

    def _corrected(self, sums: Sequence[str], taken: Sequence[str]) -> list[str]:
        tile = self.tile
        if not tile.plan.shifted:
            return list(sums)
        excess = taken or [self.columns.correction("%b", tile.depth, vector) for vector in range(len(tile.vectors))]
        return [self.products.minus(value, excess[n % len(excess)]) for n, value in enumerate(sums)]

    def _prefetch(self, a: str, b: str, steps: int) -> None:
        """Prefetch operands of later rounds into the first-level cache; rows of B in place into the second, for tiles
        beside this one, as those below are of the next block.
        """
        plan = self.tile.plan
        if self.tile.copies:
            for offset in self.columns.prefetched(steps):
                self.tile.prefetch(b, _ROWS_AHEAD * self.columns.step_bytes + offset)
            return
        strategy = plan.config.strategy
        if strategy.prefetch_tiles_n:
            beside = strategy.prefetch_tiles_n * next(plan.columns.strips(plan.nr)).count * plan.problem.dtype_b.nbytes
            for offset in self.columns.prefetched(steps):
                self.tile.prefetch(b, beside + offset, 2)
        if not strategy.prefetch_distance:
            return
        distance = strategy.prefetch_distance * (plan.config.matmul.innermost.k // plan.group)
        for pointer, operand in ((a, self.rows), (b, self.columns)):
            ahead = distance * operand.step_bytes
            for offset in operand.prefetched(steps):
                self.tile.prefetch(pointer, ahead + offset)

    def _prefetch_rows_below(self, a: str, steps: int) -> None:
        """Prefetch rows of A in place that the tile below multiplies: too many, and too short, for the hardware."""
        tile, plan, p = self.tile, self.tile.plan, self.tile.plan.problem
        below = plan.tiles_m > 1 and tile.is_usual and plan.packs_b is not Packing.NONE
        if below and self.rows.is_direct and not p.transpose_a:
            pitch = p.pitch_a * p.dtype_a.nbytes
            tile.prefetch_lines(a, lines_along(tile.rows, pitch, steps * self.rows.step_bytes), tile.rows * pitch)
