"""The K loop: the accumulators of a work-group's tile, with prefetches, staging and pipelined loads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.matrices import stored_element
from codegen.xe.build.sources import (
    Place,
    Source,
    fetch_ahead,
    fetch_first,
    fill,
)
from codegen.xe.build.tiles import Tiles
from codegen.xe.build.weights import GroupRow
from codegen.xe.build.writer import (
    Body,
    Writer,
    named,
)
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.xetile import TileMmaOp
from codegen.xe.rules.sizes import ceil_div

Rows = Sequence[GroupRow | None]
"""Scale and zero point of the group of a K step, for each operand."""


@dataclass(frozen=True, slots=True)
class Multiply:
    """Multiplies tiles of a problem: `ab` are A and the tiles of B, each with an accumulator; `repeated` is set if
    several tiles are computed in sequence.

    With `stays_inside`, what is loaded ahead of the last K steps is those steps again. `block2d`: the device has 2-D
    block messages.
    """

    problem: GemmProblem
    config: XeConfig
    tiles: Tiles
    ab: Sequence[Source]
    repeated: bool
    stays_inside: bool
    block2d: bool

    def write(self, w: Writer, place: Place) -> Sequence[SSAValue]:
        """Return the accumulators of the tile at a place, one for each tile of B."""
        acc = named(w.splat(self.tiles.sums.shape, stored_element(self.problem.dtype_acc), 0), "acc")
        carried: Sequence[SSAValue] = [acc] * self._products + self._begin(w, place)
        once = self._rows(w, place, place.k_first) if self._group is None else ()
        k_step, unroll = self.config.k_step, self.config.strategy.k_unroll
        one_round = k_step * unroll
        steps = w.mul(w.ceil_div(w.sub(place.k_end, place.k_first), k_step), k_step)
        middle = w.add(place.k_first, w.mul(w.div(steps, one_round), one_round))
        end = w.add(place.k_first, steps)
        if middle != place.k_first:
            carried = w.loop(place.k_first, middle, one_round, carried, self._round(place, unroll, once), "k")
        if unroll > 1 and middle != end:
            carried = w.loop(middle, end, k_step, carried, self._round(place, 1, once), "k")
        return carried[: self._products]

    def _rows(self, w: Writer, place: Place, k: Index) -> Rows:
        return [source.group_row(w, place, k) for source in self.ab]

    @property
    def _group(self) -> int | None:
        """Elements of K that share scales; None if all of a column do, or nothing is scaled."""
        return None if self.problem.quantization is None else self.problem.quantization.group

    @property
    def _products(self) -> int:
        return len(self.ab) - 1

    def _begin(self, w: Writer, place: Place) -> list[SSAValue]:
        """Write what precedes the first K step: prefetches, ring fills, and with pipelining the first operands."""
        fetch_first(w, self.config, self.ab, place)
        if self._staged and self.repeated:
            w.insert(gpu.BarrierOp())  # the rings may still be read for the previous tile
        fill(w, self._staged, place, self.block2d)
        if not self.config.strategy.pipelined_registers:
            return []
        return [source.load(w, place, place.k_first) for source in self.ab]

    def _round(self, place: Place, steps: int, once: Rows) -> Body:
        def body(w: Writer, k: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            rows = once
            for step in range(steps):
                # A prefetch covers a whole round; nothing is needed beyond the last whole round.
                fetches = step == 0 and steps == self.config.strategy.k_unroll
                at = w.add(k, step * self.config.k_step)
                if self._group is not None and (step == 0 or not self._shares_group(self._group, step, steps)):
                    rows = self._rows(w, place, at)
                carried = self._step(w, place, at, carried, rows, fetches)
            return carried

        return body

    def _shares_group(self, group: int, step: int, steps: int) -> bool:
        """Return whether a step of a round lies in the group of the step before it, in every round."""
        k_step = self.config.k_step
        one_round = steps * k_step
        starts_groups = one_round % group == 0 or group % one_round == 0
        return starts_groups and self._begins_at_multiple(math.gcd(group, one_round)) and step * k_step % group != 0

    def _begins_at_multiple(self, length: int) -> bool:
        """Return whether the first K step of every part of K begins at a multiple of `length`."""
        if self.config.strategy.k_subgroups > 1:
            return False
        splits = self.config.matmul.threads.k
        steps = ceil_div(self.problem.k, self.config.k_step)
        return splits == 1 or (not self.problem.dynamic and ceil_div(steps, splits) * self.config.k_step % length == 0)

    def _step(
        self, w: Writer, place: Place, k: Index, carried: Sequence[SSAValue], rows: Rows, fetches: bool
    ) -> Sequence[SSAValue]:
        accs, operands = carried[: self._products], carried[self._products :]
        k_step, stages = self.config.k_step, self.config.strategy.slm_stages
        self._barrier(w, place, k)
        step = w.div(w.sub(k, place.k_first), k_step) if self._staged else 0
        copied = self._ahead(w, place, k, stages - 1)
        copies = [source.load_copy(w, place, copied) for source in self._staged]
        after = [source.load(w, place, self._ahead(w, place, k, 1)) for source in self.ab] if operands else []
        a, *bs = operands or [
            source.load(w, place, k) if source.ring is None else source.get(w, w.rem(step, stages))
            for source in self.ab
        ]
        if fetches:
            fetch_ahead(w, self.config, self.ab, place, k)
        a, *bs = (
            source.multiplied(w, value, k, row) for source, value, row in zip(self.ab, (a, *bs), rows, strict=True)
        )
        totals = [
            named(w.insert(TileMmaOp(a, b, acc, self.tiles.mma_maps)).d, "acc") for b, acc in zip(bs, accs, strict=True)
        ]
        for source, copy in zip(self._staged, copies, strict=True):
            source.put(w, copy, w.rem(w.add(step, stages - 1), stages))
        return [*totals, *after]

    def _ahead(self, w: Writer, place: Place, k: Index, steps: int) -> Index:
        """Return the start of the K step that lies some steps after the one at `k`."""
        k_step = self.config.k_step
        ahead = w.add(k, steps * k_step)
        return w.minimum(ahead, w.sub(place.k_end, k_step)) if self.stays_inside and steps > 0 else ahead

    @property
    def _staged(self) -> list[Source]:
        return [source for source in self.ab if source.ring is not None]

    def _barrier(self, w: Writer, place: Place, k: Index) -> None:
        """Write the barrier of a step with rings: the buffer to read is filled, the one to write was read by all."""
        every = self.config.strategy.barrier_every
        if self._staged or every == 1:
            w.insert(gpu.BarrierOp())
        elif every:
            step = w.div(w.sub(k, place.k_first), self.config.k_step)
            w.when(w.equal(w.rem(step, every), 0), _barrier)


def _barrier(w: Writer) -> None:
    w.insert(gpu.BarrierOp())
