"""Per-lane forms of sub-group values."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    FloatTF32Type,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
    f32,
)
from xdsl.ir import Attribute, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import integer_type, memref
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    MemDescType,
    TensorDescType,
)
from codegen.xe.passes.lanes.emitter import Register
from codegen.xe.passes.lanes.vectors.layout import LaneLayout

_BYTE = 8
_SAME = frozenset((Float32Type, Float16Type, BFloat16Type, IndexType))  # quick: types that lanes hold as they are


@dataclass(frozen=True, slots=True)
class Lanes:
    """A vector: its chunks, and the elements that they hold. `splat`: the scalar, if all elements are equal."""

    type: VectorType
    layout: LaneLayout
    chunks: tuple[SSAValue, ...]
    splat: SSAValue | None = None

    def registers(self) -> list[Register]:
        """Return the registers of all chunks."""
        lengths = zip(self.chunks, self.layout.chunks, strict=True)
        return [(chunk, position) for chunk, length in lengths for position in range(length)]


@dataclass(frozen=True, slots=True)
class Surface:
    """Memory of a descriptor: a pointer, and the extent and the stride of each dimension in elements.

    `local`: shared local memory. Empty shape: unknown extent. `by_lanes`: block messages may not access it.
    """

    pointer: SSAValue
    local: bool
    shape: tuple[Index, ...]
    strides: tuple[Index, ...]
    by_lanes: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a matrix, with its offset in each dimension of the surface."""

    type: TensorDescType
    surface: Surface
    offsets: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Scattered:
    """Scattered elements: a pointer, and the offsets of the elements from it."""

    type: TensorDescType
    surface: Surface
    offsets: Lanes


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix in shared local memory; `offsets` are its position in the matrix `whole` that it is a view of.

    `whole` may be of words, each of `words` adjacent elements of a row.
    """

    type: MemDescType
    whole: MemDescType
    pointer: SSAValue
    offsets: tuple[Index, ...]
    words: int = 1


@dataclass(frozen=True, slots=True)
class Barrier:
    """A named barrier: its number in hardware and the sub-groups that take part, i8."""

    number: SSAValue
    participants: SSAValue


Value = SSAValue | Lanes | Block | Scattered | Matrix | Barrier


def shape_of(value: SSAValue) -> Ints:
    """Return the shape of a vector of the sub-group; empty for a scalar."""
    return value.type.get_shape() if isinstance(value.type, VectorType) else ()


def lane_element(element: Attribute) -> Attribute:
    """Return the type in which a lane holds an element: integers are signless, floats of 4 and 8 bits are integers,
    and tf32 is stored as f32.
    """
    if type(element) is IntegerType:
        return integer_type(element.width.data)
    if type(element) in _SAME:
        return element
    if isinstance(element, AnyFloat) and element.bitwidth <= _BYTE:
        return integer_type(element.bitwidth)
    return f32 if isinstance(element, FloatTF32Type) else element


def lane_memory_type(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """Return the memref type with the elements that lanes hold."""
    element = lane_element(type_.element_type)
    if element is type_.element_type:
        return type_
    return memref(element, type_.get_shape(), type_.layout, type_.memory_space)


def parts(value: Value) -> list[SSAValue]:
    """Return the SSA values of a value that change when a region carries it."""
    if isinstance(value, SSAValue):
        return [value]
    if isinstance(value, Lanes):
        return list(value.chunks)
    if isinstance(value, Scattered):
        return list(value.offsets.chunks)
    if isinstance(value, Barrier):
        return [value.number, value.participants]
    return [o for o in value.offsets if isinstance(o, SSAValue)]


def rebuilt(value: Value, new: Sequence[SSAValue]) -> Value:
    """Return the value with new changing parts; its offsets must all be SSA values."""
    if isinstance(value, SSAValue):
        return new[0]
    if isinstance(value, Lanes):
        return Lanes(value.type, value.layout, tuple(new))
    if isinstance(value, Scattered):
        offsets = Lanes(value.offsets.type, value.offsets.layout, tuple(new))
        return Scattered(value.type, value.surface, offsets)
    if isinstance(value, Block):
        return Block(value.type, value.surface, tuple(new))
    if isinstance(value, Matrix):
        return Matrix(value.type, value.whole, value.pointer, tuple(new), value.words)
    return Barrier(*new)
