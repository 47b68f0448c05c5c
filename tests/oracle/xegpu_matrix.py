"""The meaning of XeGPU's operations on matrices in shared local memory."""

from dataclasses import replace

from xdsl.ir import SSAValue

from codegen.xe.dialects import xegpu
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu import MemDescType
from tests.oracle.elements import (
    element_of,
    shape_of,
)
from tests.oracle.frame import Frame
from tests.oracle.refusal import KernelFault
from tests.oracle.registry import rule_of
from tests.oracle.values import MatrixDesc


def _type(value: SSAValue) -> MemDescType:
    assert isinstance(value.type, MemDescType)
    return value.type


@rule_of(xegpu.CreateMemDescOp)
def _create(frame: Frame, op: xegpu.CreateMemDescOp) -> None:
    view, type_ = frame.view(op.source), _type(op.mem_desc)
    shape, element = type_.get_shape(), element_of(type_.element_type)
    block = type_.block or shape
    inner, outer = strides_of(type_)
    origin = (0,) * len(shape)
    frame.set(op.mem_desc, MatrixDesc(view.buffer, element, view.start, block, outer, inner, origin, shape))


def strides_of(type_: MemDescType) -> tuple[Ints, Ints]:
    """Strides in elements within a block, and from block to block.

    Elements of a block are contiguous, and blocks follow each other, both in the order of the matrix's strides.
    """
    shape, stride, block = type_.get_shape(), type_.stride, type_.block
    if block is None:
        return stride, (0,) * len(shape)
    fastest = sorted(range(len(shape)), key=lambda axis: stride[axis])
    inner, outer = [0] * len(shape), [0] * len(shape)
    step = 1
    for axis in fastest:
        inner[axis] = step
        step *= block[axis]
    for axis, slower in zip(fastest, [*fastest[1:], None], strict=True):
        outer[axis] = step
        # The extent of the whole matrix: of a part of one, its strides say it.
        extent = shape[axis] if slower is None else stride[slower] // stride[axis]
        step *= extent // block[axis]
    return tuple(inner), tuple(outer)


@rule_of(xegpu.MemDescSubviewOp)
def _subview(frame: Frame, op: xegpu.MemDescSubviewOp) -> None:
    """A part that lacks dimensions of the whole lacks those in front."""
    desc, offsets, shape = (
        frame.get(op.source, MatrixDesc),
        frame.numbers(op.mixed_offsets),
        _type(op.result).get_shape(),
    )
    whole = (1,) * (len(desc.shape) - len(shape)) + shape
    if any(o < 0 or o + n > m for o, n, m in zip(offsets, whole, desc.shape, strict=True)):
        raise KernelFault(
            "", f"expected a part of {format_ints(desc.shape)}, got {format_ints(whole)} at {format_ints(offsets)}"
        )
    lead = (0,) * (len(desc.origin) - len(offsets))
    origin = tuple(a + b for a, b in zip(desc.origin, lead + offsets, strict=True))
    frame.set(op.result, replace(desc, origin=origin, shape=shape))


@rule_of(xegpu.LoadMatrixOp)
def _load(frame: Frame, op: xegpu.LoadMatrixOp) -> None:
    desc = frame.get(op.mem_desc, MatrixDesc)
    places = desc.places(frame.numbers(op.mixed_offsets), shape_of(op.result.type))
    frame.set(op.result, desc.buffer.read(desc.element, places))


@rule_of(xegpu.StoreMatrixOp)
def _store(frame: Frame, op: xegpu.StoreMatrixOp) -> None:
    desc, values = frame.get(op.mem_desc, MatrixDesc), frame.array(op.value)
    desc.buffer.write(desc.element, desc.places(frame.numbers(op.mixed_offsets), values.shape), values)
