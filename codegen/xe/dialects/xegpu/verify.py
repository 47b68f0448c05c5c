"""Checks shared by the verifiers of the XeGPU operations."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import markers
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu.layout import DistributeLayout
from codegen.xe.dialects.xegpu.memory import (
    MemorySpace,
    MemorySpaceAttr,
)
from codegen.xe.dialects.xegpu.types import (
    TensorDescType,
    distribution_of,
)

SUBGROUP_SIZES = (8, 16, 32)
_POINTERS = tuple(IntegerType(n, s) for n in (64, 32) for s in (Signedness.SIGNLESS, Signedness.UNSIGNED))


def short(op: Operation) -> str:
    """Return the name of an operation without its dialect."""
    return op.name.partition(".")[2]


def verify_source(op: Operation, source: Attribute, desc: TensorDescType) -> None:
    """Check that a descriptor matches its base: kind, element type and memory space.

    Raises:
        VerifyException: otherwise.
    """
    if not isinstance(source, MemRefType):
        verify_pointer(op, source)
        return
    if source.element_type != desc.element_type:
        raise VerifyException(f"{short(op)}: expected a descriptor of {source.element_type}, got {desc.element_type}")
    space = space_of(source)
    if space is not desc.memory_space:
        raise VerifyException(
            f"{short(op)}: expected a descriptor in {space.value} memory as {source} is, got {desc.memory_space.value}"
        )


def verify_pointer(op: Operation, source: Attribute) -> None:
    """Check that a base other than a memref is an address.

    Raises:
        VerifyException: otherwise.
    """
    if source not in _POINTERS:
        raise VerifyException(f"{short(op)}: expected a memref or an address i64, i32, ui64 or ui32, got {source}")


def verify_flat(op: Operation, source: Attribute) -> None:
    """Check that the base of scattered elements is a 1-D memref of stride 1, or an address.

    Raises:
        VerifyException: otherwise.
    """
    if not isinstance(source, MemRefType):
        verify_pointer(op, source)
    elif source.get_num_dims() != 1:
        raise VerifyException(f"{short(op)}: expected a memref of one dimension or an address, got {source}")
    elif isinstance(source.layout, StridedLayoutAttr) and innermost_stride(source) != 1:
        raise VerifyException(f"{short(op)}: expected a memref of stride 1, got {source}")


def space_of(source: MemRefType[Attribute]) -> MemorySpace:
    """Return the memory space of a memref: 3 and the names of work-group memory are local, any other global."""
    space = source.memory_space
    if isinstance(space, MemorySpaceAttr):
        return space.data
    if isinstance(space, IntegerAttr):
        return MemorySpace.SLM if space.value.data == 3 else MemorySpace.GLOBAL
    local = not isinstance(space, NoneAttr) and "workgroup" in str(space)
    return MemorySpace.SLM if local else MemorySpace.GLOBAL


def innermost_stride(source: MemRefType[Attribute]) -> int | None:
    """Return the stride of the last dimension; None if dynamic."""
    layout = source.layout
    if isinstance(layout, StridedLayoutAttr):
        stride = layout.strides.data[-1]
        return None if isinstance(stride, NoneAttr) else stride.data
    return 1 if isinstance(layout, NoneAttr) else None


def verify_markers(op: Operation, dynamic: Sequence[SSAValue], *numbers: DenseArrayBase[IntegerType] | None) -> None:
    """Check that the number of values equals the number of markers in the lists.

    Raises:
        VerifyException: otherwise.
    """
    needed = sum(map(markers, numbers))
    if len(dynamic) != needed:
        raise VerifyException(f"{short(op)}: expected {needed} values for the markers in lists, got {len(dynamic)}")


def verify_layout(
    op: Operation, key: str, layout: DistributeLayout | None, shape: Sequence[int], *, fragment: bool = False
) -> None:
    """Check that a layout distributes a value of this shape; `fragment`: which may be that of one work-item.

    Raises:
        VerifyException: otherwise.
    """
    if layout is not None:
        distribution = distribution_of(layout, len(shape))
        distribution.verify_distributes(f"{short(op)}: {key}", shape)
        if not fragment:
            distribution.verify_distributes_to_lanes(f"{short(op)}: {key}", shape)


def fragments(shape: Sequence[int], layout: DistributeLayout | None) -> Iterator[Ints]:
    """Yield the shapes that one work-item may hold of a block that a sub-group owns.

    One dimension as in MLIR; units by elements of a unit as in the RFC, which requires a layout.
    """
    total = prod(shape)
    if layout is None:
        yield from ((total // n,) for n in SUBGROUP_SIZES if total % n == 0)
        return
    d = layout.distribution
    if d.lane_layout is None or d.lane_data is None or d.sg_layout is not None:
        return
    size, unit = total // prod(d.lane_layout), prod(d.lane_data)
    if size * prod(d.lane_layout) == total and size % unit == 0:
        yield (size,)
        yield size // unit, unit


def shape_of(value: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector; empty for a scalar."""
    return value.get_shape() if isinstance(value, VectorType) else ()


def element_of(value: Attribute) -> Attribute:
    """Return the element type of a vector; a scalar's own type."""
    return value.element_type if isinstance(value, VectorType) else value


def verify_value(op: Operation, value: Attribute, element: Attribute, shapes: Sequence[Ints]) -> None:
    """Check the element type and the shape of a value.

    Raises:
        VerifyException: element type or shape differ.
    """
    if element_of(value) != element:
        raise VerifyException(f"{short(op)}: expected elements of {element}, got {element_of(value)}")
    if shape_of(value) not in shapes:
        expected = " or ".join(dict.fromkeys(map(format_ints, shapes)))
        raise VerifyException(f"{short(op)}: expected a value of shape {expected}, got {format_ints(shape_of(value))}")


def verify_mask(op: Operation, mask: Attribute, shapes: Sequence[Ints]) -> None:
    """Check that a mask has a bit per offset.

    Raises:
        VerifyException: otherwise.
    """
    if element_of(mask) != i1 or shape_of(mask) not in shapes:
        expected = " or ".join(dict.fromkeys(map(format_ints, shapes)))
        raise VerifyException(f"{short(op)}: expected a mask of i1 of shape {expected}, got {mask}")


def verify_offset_vector(op: Operation, offsets: Attribute, shape: Ints) -> None:
    """Check that a vector has an offset for each element, or chunk, of a descriptor.

    Raises:
        VerifyException: otherwise.
    """
    if element_of(offsets) != IndexType() or shape_of(offsets) != shape:
        raise VerifyException(f"{short(op)}: expected offsets {VectorType(IndexType(), shape)}, got {offsets}")


def verify_scattered(op: Operation, value: SSAValue) -> TensorDescType:
    """Check that a value is a scattered descriptor; return its type.

    Raises:
        VerifyException: otherwise.
    """
    desc = value.type
    if not isinstance(desc, TensorDescType) or desc.scatter is None:
        raise VerifyException(f"{short(op)}: expected a descriptor with #xegpu.scatter_tdesc_attr, got {desc}")
    return desc
