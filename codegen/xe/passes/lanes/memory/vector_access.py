"""Loads and stores of vectors by work-items, each of a block of a memref at its own place."""

from collections.abc import Iterator, Mapping

import numpy as np
from xdsl.dialects import vector
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.memory.buffers import is_local
from codegen.xe.passes.lanes.memory.lane_memory import (
    load,
    pointer_at,
    store,
)
from codegen.xe.passes.lanes.memory.surfaces import (
    extent_of,
    pointer_of,
)
from codegen.xe.passes.lanes.values import (
    Lanes,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.fragments import own
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    LaneLayout,
    pieces,
)


def _load(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, vector.LoadOp)
    if not lowering.work_items:
        lowering.keep(op)  # refuses
        return
    emitter, element, shape = lowering.emitter, element_type(op.result), shape_of(op.result)
    pointer = pointer_of(lowering, op.base, local=is_local(op.base))
    runs = list(_runs(lowering, op.base, list(op.indices), shape))
    chunks = [load(emitter, pointer_at(emitter, pointer, at, element), element, length) for _, at, length in runs]
    layout = LaneLayout(own(shape).places, tuple(length for *_, length in runs))
    lowering.finish(op.result, Lanes(vector_type(op.result), layout, tuple(chunks)))


def _store(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, vector.StoreOp)
    if not lowering.work_items:
        lowering.keep(op)  # refuses
        return
    emitter, element, registers = lowering.emitter, element_type(op.vector), lowering.vector(op.vector).registers()
    pointer = pointer_of(lowering, op.base, local=is_local(op.base))
    for first, at, length in _runs(lowering, op.base, list(op.indices), shape_of(op.vector)):
        chunk = emitter.chunk(registers[first : first + length])
        store(emitter, pointer_at(emitter, pointer, at, element), chunk)


def _runs(lowering: Lowering, base: SSAValue, indices: list[SSAValue], shape: Ints) -> Iterator[tuple[int, Index, int]]:
    """Yield the first element, its offset in memory and the length of consecutive elements of a block."""
    emitter, (_, strides) = lowering.emitter, extent_of(lowering, base)
    places = [lowering.index(i) for i in indices]
    longest = LONGEST if strides[-1] == 1 else 1
    lead, first = (0,) * (len(places) - len(shape)), 0
    for row in np.ndindex(*shape[:-1]):
        column = 0
        for length in pieces(shape[-1], longest):
            at = zip(places, (*lead, *row, column), strides, strict=True)
            yield first, emitter.sum(*(emitter.product(emitter.sum(i, n), s) for i, n, s in at)), length
            first, column = first + length, column + length


HANDLERS: Mapping[str, Handler] = {"vector.load": _load, "vector.store": _store}
