"""Memory accesses by the lanes of a chunk, each at its own address."""

from collections.abc import Sequence
from types import TracebackType

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, VectorType, i64
from xdsl.dialects.llvm import LLVMPointerType, LoadOp, StoreOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from codegen.xe.compound_names import LOAD, STORE
from codegen.xe.dialects.creation import create
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import integer
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp
from codegen.xe.dialects.upstream.llvm_ops import LOCAL, LoadEachOp, StoreEachOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
    chunk_type,
    element_of,
    length_of,
    llvm_element,
)
from codegen.xe.passes.lanes.vectors.layout import (
    Choice,
    LaneLayout,
    Places,
)
from codegen.xe.subgroup import subgroup_size

_LONGEST_BYTES = 64


def all_of(emitter: Emitter, conditions: Sequence[SSAValue]) -> SSAValue:
    """Return the conjunction of all conditions."""
    out = conditions[0]
    for condition in conditions[1:]:
        out = emitter.both(out, condition)
    return out


def owners(layout: LaneLayout) -> Choice:
    """Return a mask of the lanes that are the first to hold their element, [registers, 16]."""
    flat = layout.places.reshape(-1)
    first = np.zeros(len(flat), np.bool_)
    elements, where = np.unique(flat, return_index=True)
    first[where[elements >= 0]] = True
    return first.reshape(-1, subgroup_size())


def numbers_of(emitter: Emitter, of_lanes: Places) -> tuple[Index, int]:
    """Return a number per lane as a sum of the part that differs between lanes and the common part."""
    least = int(of_lanes.min())
    numbers = (of_lanes - least).tolist()
    return (emitter.index_by_lane(numbers) if any(numbers) else 0), least


def pointer_at(emitter: Emitter, pointer: SSAValue, offset: Index, element: Attribute) -> SSAValue:
    """Return a pointer advanced by some elements."""
    at = emitter.as_int(offset, i64) if isinstance(offset, SSAValue) else offset
    return emitter.pointer(pointer, at, element)


def load(
    emitter: Emitter,
    pointer: SSAValue,
    element: Attribute,
    length: int = 1,
    cache: Attribute | None = None,
    *,
    aligned: int = 1,
) -> SSAValue:
    """Load a chunk of consecutive elements, the first at a multiple of `aligned` elements."""
    held = i64 if isinstance(element, IndexType) else element
    op = create(LoadOp, (pointer,), (chunk_type(held, length),), _properties(held, aligned))
    if cache is not None:
        op.attributes["cache_control"] = cache
    loaded = emitter.value(op)
    return loaded if held is element else emitter.value(IndexCastOp(loaded, chunk_type(element, length)))


def store(
    emitter: Emitter, pointer: SSAValue, chunk: SSAValue, cache: Attribute | None = None, *, aligned: int = 1
) -> None:
    """Store a chunk to consecutive elements, the first at a multiple of `aligned` elements."""
    if isinstance(element_of(chunk), IndexType):
        chunk = emitter.value(IndexCastOp(chunk, chunk_type(i64, length_of(chunk))))
    op = create(StoreOp, (chunk, pointer), (), _properties(element_of(chunk), aligned))
    if cache is not None:
        op.attributes["cache_control"] = cache
    emitter.add(op)


def load_elements(
    emitter: Emitter, pointer: SSAValue, offsets: Sequence[SSAValue], element: Attribute, count: int
) -> SSAValue:
    """Load a chunk, each element at the sum of its offsets of all chunks from a pointer."""
    operands, result = (pointer, *offsets), chunk_type(llvm_element(element), count)
    symbol = _symbol(LOAD, operands, result)
    emitter.declare(symbol, operands, result, accesses="read")
    return emitter.from_llvm(emitter.value(LoadEachOp(symbol, operands, result)), element)


def store_elements(
    emitter: Emitter,
    chunk: SSAValue,
    pointer: SSAValue,
    offsets: Sequence[SSAValue],
    conditions: Sequence[SSAValue],
) -> None:
    """Store a chunk, each element as in `load_elements`, where conditions hold, each of one element or of all."""
    operands = emitter.as_llvm(chunk), pointer, *offsets, *conditions
    symbol = _symbol(STORE, operands)
    emitter.declare(symbol, operands, None, accesses="write")
    emitter.add(StoreEachOp(symbol, operands, None))


def _symbol(kind: str, operands: Sequence[SSAValue], result: Attribute | None = None) -> str:
    """Return the name of a compound: one for all operands of the same types."""
    types = [operand.type for operand in operands] + ([] if result is None else [result])
    return f"{kind}{len(operands)}.{'_'.join(map(_type_name, types))}"


def _type_name(type_: Attribute) -> str:
    if isinstance(type_, LLVMPointerType):
        return "local" if type_ == LOCAL else "global"
    if isinstance(type_, VectorType):
        return f"{type_.get_shape()[0]}x{type_.element_type}"
    return str(type_)


def _properties(element: Attribute, elements: int) -> dict[str, Attribute]:
    """Return the properties of a plain access with an alignment of some elements."""
    nbytes = max(1, bits_of(element) // 8) * elements
    return {"ordering": integer(0, i64), "alignment": integer(min(nbytes & -nbytes, _LONGEST_BYTES), i64)}


class Guarded:
    """Context whose operations run in the lanes where all conditions are true; `chosen` are its results there.

    In other lanes the results are zero.
    """

    def __init__(self, emitter: Emitter, conditions: Sequence[SSAValue]) -> None:
        self._emitter, self._conditions = emitter, conditions
        self._block = Block()
        self._inside = emitter.into(self._block)
        self._yielded: list[SSAValue] = []
        self.results: list[SSAValue] = []

    def give(self, *values: SSAValue) -> None:
        """Set the results, inside the context."""
        self._yielded = list(values)

    def __enter__(self) -> "Guarded":
        if self._conditions:
            self._inside.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._conditions:
            self.results = self._yielded
            return
        emitter = self._emitter
        emitter.add(create(scf.YieldOp, self._yielded, ()))
        self._inside.__exit__(kind, error, trace)
        otherwise = Region()
        if self._yielded:
            with emitter.into(block := Block()):
                zeros = [emitter.constant(0, element_of(v)) for v in self._yielded]
                lengths = [length_of(v) for v in self._yielded]
                emitter.add(create(scf.YieldOp, tuple(map(emitter.splat, zeros, lengths)), ()))
            otherwise = Region(block)
        types = [v.type for v in self._yielded]
        branch = create(scf.IfOp, (all_of(emitter, self._conditions),), types)
        branch.add_region(Region(self._block))
        branch.add_region(otherwise)
        emitter.add(branch)
        self.results = list(branch.results)
