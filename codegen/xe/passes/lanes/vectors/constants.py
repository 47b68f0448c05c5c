"""Vectors of constants, or of constants and a few scalars: constants, steps, masks."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.literals import is_splat
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.vector_ops import ConstantMaskOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
    index,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.memory.lane_memory import all_of
from codegen.xe.passes.lanes.values import (
    Lanes,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.layout import LaneLayout
from codegen.xe.passes.lanes.vectors.shuffles import splat

Numbers = NDArray[np.generic]


def _constant(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    if not isinstance(op.result.type, VectorType):
        lowering.keep(op)
        return
    value = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise PassFailedException(f"lower-to-lanes: expected a dense constant, got {value}")
    kind = value.get_element_type()
    if is_splat(value):
        (number,) = kind.unpack(value.data.data[: kind.compile_time_size], 1)
        assert not isinstance(number, tuple)  # lanes have no complex numbers
        _define_splat(lowering, op.result, number)
    else:
        _define(lowering, op.result, np.array(kind.unpack(value.data.data, len(value))))


def _define(lowering: Lowering, result: SSAValue, numbers: Numbers) -> None:
    if numbers.size == 1 or (numbers == numbers.flat[0]).all():  # a NaN is not equal to itself
        _define_splat(lowering, result, numbers.flat[0].item())
        return
    layout, element = lowering.layout(result), element_type(result)
    lowering.define(result, known(lowering.emitter, numbers.reshape(-1), layout, element, vector_type(result)))


def _define_splat(lowering: Lowering, result: SSAValue, number: float) -> None:
    scalar = lowering.emitter.constant(number, element_type(result))
    lowering.define(result, splat(lowering.emitter, scalar, lowering.layout(result), vector_type(result)))


def known(
    emitter: Emitter, numbers: Numbers, layout: LaneLayout, element: Attribute, type_: VectorType[Attribute]
) -> Lanes:
    """Return the vector of constant numbers."""
    scalars = [(_by_lane(emitter, numbers[np.maximum(row, 0)], element), 0) for row in layout.places]
    chunks = [emitter.chunk(scalars[first : first + length]) for first, length in layout.spans()]
    return Lanes(type_, layout, tuple(chunks))


def _by_lane(emitter: Emitter, numbers: Numbers, element: Attribute) -> SSAValue:
    values = [n.item() for n in numbers]
    if element == i1:
        return emitter.lanes(values)
    if len(set(map(repr, values))) == 1:
        return emitter.constant(values[0], element)
    if isinstance(element, AnyFloat) and bits_of(element) <= 32:
        width = IntegerType(bits_of(element))
        bits = _narrowed(emitter, emitter.by_lane(_float_bits(numbers, element)), width)
        return emitter.value(arith.BitcastOp(bits, element))
    if isinstance(element, IntegerType | IndexType) and min(values) >= -(2**31) and max(values) < 2**31:
        return _narrowed(emitter, emitter.by_lane(values), element)
    chosen = emitter.constant(values[-1], element)
    for lane, value in enumerate(values[:-1]):
        only = emitter.lanes([at == lane for at in range(len(values))])
        chosen = emitter.value(arith.SelectOp(only, emitter.constant(value, element), chosen))
    return chosen


def _narrowed(emitter: Emitter, number: SSAValue, type_: IntegerType | IndexType) -> SSAValue:
    if type_ == i32:
        return number
    if isinstance(type_, IndexType):
        return emitter.value(arith.IndexCastOp(number, index))
    return emitter.value((arith.TruncIOp if type_.width.data < 32 else arith.ExtSIOp)(number, type_))


def _float_bits(numbers: Numbers, element: Attribute) -> list[int]:
    if isinstance(element, Float16Type):
        return numbers.astype(np.float16).view(np.int16).tolist()
    assert isinstance(element, BFloat16Type | Float32Type)
    bits = numbers.astype(np.float32).view(np.int32)
    if isinstance(element, Float32Type):
        return bits.tolist()
    wide = bits.astype(np.int64) & 0xFFFFFFFF
    return ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.int16).tolist()


def _step(lowering: Lowering, op: Operation) -> None:
    _define(lowering, op.results[0], np.arange(vector_type(op.results[0]).get_shape()[0]))


def _constant_mask(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, ConstantMaskOp)
    shape, sizes = op.result.type.get_shape(), op.mask_dim_sizes.get_values()
    inside = np.ones(shape, np.bool_)
    for places, size in zip(np.indices(shape), sizes, strict=True):
        inside &= places < size
    _define(lowering, op.result, inside)


def coordinates(layout: LaneLayout, shape: Ints) -> list[NDArray[np.int64]]:
    """Return the coordinate of each element in each dimension, [registers, 16]; 0 without an element."""
    return list(np.unravel_index(np.maximum(layout.places, 0), shape))


def _create_mask(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, xvector.CreateMaskOp)
    emitter, layout = lowering.emitter, lowering.layout(op.mask_vector)
    sizes = [lowering.scalar(s) for s in op.mask_dim_sizes]
    at = coordinates(layout, shape_of(op.mask_vector))
    scalars: list[tuple[SSAValue, int]] = []
    for register in range(len(layout.places)):
        inside = [
            emitter.value(arith.CmpiOp(emitter.index_by_lane(axis[register].tolist()), size, "slt"))
            for axis, size in zip(at, sizes, strict=True)
        ]
        scalars.append((all_of(emitter, inside), 0))
    chunks = [emitter.chunk(scalars[first : first + length]) for first, length in layout.spans()]
    lowering.define(op.mask_vector, Lanes(vector_type(op.mask_vector), layout, tuple(chunks)))


HANDLERS: Mapping[str, Handler] = {
    "arith.constant": _constant,
    "vector.step": _step,
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
}
