"""The meaning of XeGPU's operations on blocks of matrices."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from codegen.xe.dialects import xegpu
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu import TensorDescType
from codegen.xe.dialects.xegpu.types import bits
from tests.oracle.arith import constant
from tests.oracle.blocks import block_of
from tests.oracle.elements import (
    Array,
    element_of,
    shape_of,
)
from tests.oracle.frame import (
    Event,
    Frame,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import rule_of
from tests.oracle.scatter import write
from tests.oracle.values import BlockOf
from tests.oracle.work_items import (
    held,
    together,
)


def _desc_type(value: SSAValue) -> TensorDescType:
    assert isinstance(value.type, TensorDescType)
    return value.type


@rule_of(xegpu.CreateNdTdescOp)
def _create(frame: Frame, op: xegpu.CreateNdTdescOp) -> None:
    """Memory at an address without a shape has no bounds. Nor has that of a block of one dimension."""
    type_ = _desc_type(op.result)
    offsets, shape, strides = map(frame.numbers, (op.mixed_offsets, op.mixed_shape, op.mixed_strides))
    if isinstance(op.source.type, MemRefType):
        rank = op.source.type.get_num_dims()
    else:
        rank = max(len(shape), len(offsets), 1)
        shape, strides = shape or (0,) * rank, strides or (1,) * rank
    block = block_of(
        frame, frame.values[op.source], element_of(type_.element_type), offsets or (0,) * rank, shape, strides
    )
    checked = type_.get_num_dims() > 1 and type_.block.boundary_check is not False
    frame.set(op.result, replace(block, checked=checked))


@rule_of(xegpu.UpdateNdOffsetOp)
def _update_offset(frame: Frame, op: xegpu.UpdateNdOffsetOp) -> None:
    frame.set(op.result, frame.get(op.desc, BlockOf).moved(frame.numbers(op.mixed_offsets)))


@rule_of(xegpu.LoadNdOp)
def _load(frame: Frame, op: xegpu.LoadNdOp) -> Iterator[Event] | None:
    """Blocks of array_length follow each other to the right."""
    if frame.lane is not None:
        return _load_of_work_item(frame, op, frame.lane)
    blocks = [_rearranged(op, values) for values in _blocks(op, _block(frame, op))]
    frame.set(op.result, fitted(np.stack(blocks), shape_of(op.result.type)))
    return None


def _blocks(op: xegpu.LoadNdOp, block: BlockOf) -> list[Array]:
    """The blocks that are loaded, one for each of array_length, as they are in memory."""
    type_ = _desc_type(op.desc)
    shape, said = type_.get_shape(), op.attributes.get("padding")
    padding = np.zeros((), block.element.register) if said is None else constant(said, type_.element_type)
    steps = [(0,) * (len(shape) - 1) + (i * shape[-1],) for i in range(type_.block.array_length)]
    return [block.moved(step).load(shape, padding) for step in steps]


def _load_of_work_item(frame: Frame, op: xegpu.LoadNdOp, lane: int) -> Iterator[Event]:
    """Its part of each block, which the sub-group loads together."""
    blocks = yield from together(frame, op, _block(frame, op), lambda given: _blocks(op, _common(given)))
    blocks = [b.T for b in blocks] if op.transpose is not None else blocks
    mine = [values[at] for values in blocks for at in held(op, lane)]
    frame.set(op.result, fitted(np.array(mine, blocks[0].dtype), shape_of(op.result.type)))


def _common(given: Sequence[BlockOf]) -> BlockOf:
    """The block that a sub-group accesses.

    Raises:
        KernelFault: its work-items mean different ones.
    """
    if any(block != given[0] for block in given):
        raise KernelFault("", "expected the work-items of a sub-group to access one block, got several")
    return given[0]


def fitted(values: Array, shape: Ints) -> Array:
    """Values in another shape.

    Raises:
        InterpretationRefused: there are more or fewer, as a work-item holds a part of what its sub-group has.
    """
    if values.size != prod(shape):
        whole, part = format_ints(values.shape), format_ints(shape)
        raise InterpretationRefused("", f"expected the {whole} of a whole sub-group, got the {part} of a work-item")
    return values.reshape(shape)


def _block(frame: Frame, op: xegpu.LoadNdOp | xegpu.StoreNdOp) -> BlockOf:
    """The block that is accessed: offsets here add to those of its descriptor."""
    return frame.get(op.desc, BlockOf).moved(frame.numbers(op.mixed_offsets))


def _rearranged(op: xegpu.LoadNdOp, block: Array) -> Array:
    width = bits(_desc_type(op.desc).element_type)
    if op.packed is not None:
        return packed(block, 32 // width)
    if op.transpose is None:
        return block
    unit = 1 if op.transpose_bit_width is None else op.transpose_bit_width.value.data // width
    rows, columns = block.shape
    return block.reshape(rows, columns // unit, unit).transpose(1, 0, 2).reshape(columns // unit, rows * unit)


def packed(matrix: Array, length: int) -> Array:
    """A matrix [K, N] in words of `length` elements of a column: [K / length, N, length]."""
    rows, columns = matrix.shape
    return matrix.reshape(rows // length, length, columns).transpose(0, 2, 1)


@rule_of(xegpu.StoreNdOp)
def _store(frame: Frame, op: xegpu.StoreNdOp) -> Iterator[Event] | None:
    if frame.lane is not None:
        return _store_of_work_item(frame, op, frame.lane)
    type_, value = _desc_type(op.desc), frame.array(op.value)
    if value.size != prod(type_.get_shape()):
        raise InterpretationRefused("", f"expected the values of the whole {type_}, got {format_ints(value.shape)}")
    _block(frame, op).store(value.reshape(type_.get_shape()))
    return None


def _store_of_work_item(frame: Frame, op: xegpu.StoreNdOp, lane: int) -> Iterator[Event]:
    shape, mine = _desc_type(op.desc).get_shape(), held(op, lane)
    elements = yield from together(frame, op, _block(frame, op), lambda given: _common(given).scattered(shape))
    addresses = np.array([elements.addresses[at] for at in mine], np.int64)
    inside = np.array([elements.inside[at] for at in mine])
    write(frame, replace(elements, addresses=addresses, inside=inside), frame.array(op.value).reshape(-1))


@rule_of(xegpu.PrefetchNdOp)
def _prefetch(frame: Frame, op: xegpu.PrefetchNdOp) -> None:
    """No effect on values."""
