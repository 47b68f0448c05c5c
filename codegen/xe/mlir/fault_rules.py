"""What the pinned MLIR's pipeline cannot take, as predicates on operations of work-group-level XeGPU.

Source: experiments, each kept as a test of its name in tests/codegen/upstream_faults.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IntegerType,
    MemRefType,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.dialects.vector import BitcastOp, ReductionOp
from xdsl.ir import Attribute, Operation

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_ops import SelectOp
from codegen.xe.dialects.upstream.vector_ops import (
    FromElementsOp,
    MultiReductionOp,
    ShapeCastOp,
    TransposeOp,
)
from codegen.xe.dialects.xegpu import (
    AllocNbarrierOp,
    AtomicRmwOp,
    ConvertLayoutOp,
    CreateNdTdescOp,
    DpasOp,
    InitNbarrierOp,
    LayoutAttr,
    LoadMatrixOp,
    LoadNdOp,
    LoadOp,
    PrefetchNdOp,
    PrefetchOp,
    StoreMatrixOp,
    StoreNdOp,
    StoreOp,
    TensorDescType,
)
from codegen.xe.passes.carried import carried_as
from codegen.xe.passes.lanes.analysis.divisibility import divisor

LANES = 16
_TRANSPOSED = (0, 1)
_LOAD_ROWS = (1, 2, 4, 8, 16, 32)
_STORE_ROWS = (1, 2, 4, 8)
_WORD_BITS = 32
_BLOCK_BITS = (16, _WORD_BITS)
_NO_BUILTIN = ("math.erf", "math.erfc", "math.cbrt", "math.asinh", "math.acosh", "math.atanh", "math.ipowi")
_NOT_DISTRIBUTED = (
    *("vector.extract", "vector.insert", "vector.extract_strided_slice", "vector.insert_strided_slice"),
    *("vector.shuffle", "vector.fma", "vector.contract"),
    *("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended"),
)
_MATRIX = 2
# Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".
_SURFACE_BYTES, _PITCH_BYTES, _COLUMN_BYTES = 64, 16, 4
_COLUMN_BITS = 8 * _COLUMN_BYTES
_TURNED_BITS = 8 * _WORD_BITS  # of a row of a transposed block


def multiplies_integers(op: Operation) -> bool:
    """A dpas of integers."""
    return isinstance(op, DpasOp) and isinstance(_element(op.a.type), IntegerType)


def multiplies_words(op: Operation) -> bool:
    """A dpas of 32-bit floats, which DPAS takes as tf32."""
    element = _element(op.a.type) if isinstance(op, DpasOp) else None
    return isinstance(element, AnyFloat) and element.bitwidth >= _WORD_BITS


def starts_from_nothing(op: Operation) -> bool:
    """A dpas without an accumulator."""
    return isinstance(op, DpasOp) and op.c is None


def takes_rows_of_local_memory(op: Operation) -> bool:
    """A lane that takes several elements of a matrix in local memory that do not lie side by side."""
    if not isinstance(op, LoadMatrixOp | StoreMatrixOp):
        return False
    matrix, inst_data = cast("LoadMatrixOp", op).mem_desc.type, _inst_data(op.layout)
    by_columns = matrix.block is None and matrix.stride[0] == 1
    return not by_columns and (inst_data is None or inst_data[0] > 1 or inst_data[-1] > LANES)


def moves_between_subgroups(op: Operation) -> bool:
    """A convert_layout that changes who owns what."""
    if not isinstance(op, ConvertLayoutOp):
        return False
    before, after = op.input_layout.distribution, op.target_layout.distribution
    return (before.sg_layout, before.sg_data, before.order) != (after.sg_layout, after.sg_data, after.order)


def reduces_rows_across_subgroups(op: Operation) -> bool:
    """A reduction along rows of which sub-groups have parts."""
    if not isinstance(op, MultiReductionOp) or not isinstance(op.dest.type, VectorType):
        return False
    last = op.source.type.get_num_dims() - 1
    parent = getattr(op.attributes.get("layout_result_0"), "parent", None)
    if last not in op.dims or not isinstance(parent, LayoutAttr) or parent.data.sg_data is None:
        return False
    return parent.data.sg_data[last] < op.source.type.get_shape()[last]


def reduces_computed_rows(op: Operation) -> bool:
    """A reduction along rows of what was computed, not loaded, and is used again."""
    if not isinstance(op, MultiReductionOp) or not isinstance(op.dest.type, VectorType):
        return False
    along_rows = op.source.type.get_num_dims() - 1 in op.dims
    return along_rows and not isinstance(op.source.owner, LoadNdOp) and not op.source.has_one_use()


def reduces_dealt_columns(op: Operation) -> bool:
    """A reduction along columns of what is used again, and of which sub-groups have several parts or the same."""
    if not isinstance(op, MultiReductionOp) or not isinstance(op.dest.type, VectorType) or op.source.has_one_use():
        return False
    parent = getattr(op.attributes.get("layout_result_0"), "parent", None)
    if not isinstance(parent, LayoutAttr) or parent.data.sg_layout is None or parent.data.sg_data is None:
        return False
    owned = [count * extent for count, extent in zip(parent.data.sg_layout, parent.data.sg_data, strict=True)]
    return owned != list(op.source.type.get_shape())


def reduces_to_scalar(op: Operation) -> bool:
    """A reduction of all elements."""
    return isinstance(op, ReductionOp) or (
        isinstance(op, MultiReductionOp) and not isinstance(op.dest.type, VectorType)
    )


def takes_part_of_lanes(op: Operation) -> bool:
    """A block whose rows are no whole number of lanes, or that is stored more than one such number wide."""
    layout = _layout(op)
    if layout is None or _is_line(op):
        return False
    inst_data = layout.data.inst_data
    if _is_transposed(op) and isinstance(op, StoreNdOp):
        return False
    if _is_transposed(op) and isinstance(op, LoadNdOp):
        return inst_data is not None and inst_data[-1] * _bits(op.desc.type) != _TURNED_BITS
    if isinstance(op, StoreNdOp) and inst_data is not None and inst_data[-1] > LANES:
        return True
    taken = inst_data or layout.data.sg_data
    return taken is not None and taken[-1] % LANES > 0


def carries_blocks(op: Operation) -> bool:
    """A block that a loop carries to where it is taken in other parts than it is loaded in."""
    if not isinstance(op, LoadNdOp) or (loaded := _inst_data(op.layout)) is None:
        return False
    carried = [use for use in op.result.uses if isinstance(use.operation, scf.ForOp | scf.YieldOp)]
    return any(taken != loaded for use in carried for taken in _taken(use.operation, use.index))


def _taken(op: Operation, number: int) -> Iterator[Ints | None]:
    """The parts in which what a loop carries is taken, within it or after it."""
    for use in (use for value in carried_as(op, number) for use in value.uses):
        user = use.operation
        if isinstance(user, DpasOp):
            yield _inst_data((user.layout_a, user.layout_b, user.layout_cd)[use.index])
        elif not isinstance(user, scf.YieldOp):
            yield _inst_data(user.properties.get("layout"))


def takes_odd_elements(op: Operation) -> bool:
    """A block of elements that are neither of 16 nor of 32 bits."""
    return isinstance(op, LoadNdOp | StoreNdOp) and _bits(op.desc.type) not in _BLOCK_BITS


def turns_values(op: Operation) -> bool:
    """A transpose of what is not only multiplied."""
    return isinstance(op, TransposeOp) and not all(isinstance(use.operation, DpasOp) for use in op.result.uses)


def takes_odd_columns(op: Operation) -> bool:
    """A block that begins at a column which is not for sure a multiple of four bytes."""
    if not isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp) or not op.mixed_offsets:
        return False
    return divisor(op.mixed_offsets[-1]) * _bits(op.desc.type) % _COLUMN_BITS > 0


def takes_odd_rows(op: Operation) -> bool:
    """A block of rows that no message takes."""
    inst_data = _block(op)
    rows = _STORE_ROWS if isinstance(op, StoreNdOp) else _LOAD_ROWS
    return inst_data is not None and inst_data[0] not in rows


def transposes_on_the_way(op: Operation) -> bool:
    """A transposed block that is loaded other than one row for each lane."""
    inst_data = _block(op)
    return isinstance(op, LoadNdOp) and _is_transposed(op) and inst_data is not None and inst_data[0] != LANES


def transposes_from_a_start(op: Operation) -> bool:
    """A transposed block of a matrix that does not lie where its memory begins."""
    if not isinstance(op, LoadNdOp) or not _is_transposed(op) or not isinstance(op.desc.owner, CreateNdTdescOp):
        return False
    memref = op.desc.owner.source.type
    layout = memref.layout if isinstance(memref, MemRefType) else None
    return isinstance(layout, StridedLayoutAttr) and layout.get_offset() != 0


def stores_transposed(op: Operation) -> bool:
    """A transposed block that is stored."""
    return isinstance(op, StoreNdOp) and _is_transposed(op)


def takes_a_line(op: Operation) -> bool:
    """A block of one dimension."""
    return isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp) and op.desc.type.get_num_dims() < _MATRIX


def uses_named_barriers(op: Operation) -> bool:
    """A barrier of some of a work-group's sub-groups."""
    return isinstance(op, AllocNbarrierOp | InitNbarrierOp)


def updates_atomically(op: Operation) -> bool:
    """An atomic update, which takes a scattered descriptor."""
    return isinstance(op, AtomicRmwOp)


def prefetches_elements(op: Operation) -> bool:
    """A prefetch of scattered elements."""
    return isinstance(op, PrefetchOp)


def cuts_chunks(op: Operation) -> bool:
    """An access to chunks that does not say which part of them one instruction takes."""
    if not isinstance(op, LoadOp | StoreOp):
        return False
    desc = op.source.type if isinstance(op, LoadOp) else op.dest.type
    scatter = desc.scatter if isinstance(desc, TensorDescType) else None
    chunk = op.chunk_size.value.data if op.chunk_size is not None else scatter.chunk_size if scatter is not None else 1
    inst_data = _inst_data(op.layout or (desc.layout if isinstance(desc, TensorDescType) else None))
    return (chunk or 1) > 1 and (inst_data is None or inst_data[-1] == 1)


def pads(op: Operation) -> bool:
    """A load that pads with another number than 0."""
    return isinstance(op, LoadNdOp) and "padding" in op.attributes


def transposes_loads(op: Operation) -> bool:
    """A load that transposes."""
    return isinstance(op, LoadNdOp) and op.transpose is not None


def is_no_surface(op: Operation) -> bool:
    """A matrix too narrow for block messages, or whose rows do not begin where they need them to."""
    if not isinstance(op, CreateNdTdescOp) or op.result.type.get_num_dims() < _MATRIX:
        return False
    shape, strides = _extent(op)
    nbytes = _bits(op.result.type) // 8
    width, pitch = (n * nbytes if isinstance(n, int) else None for n in (shape[-1], strides[-2]))
    narrow = any(n is not None and n < _SURFACE_BYTES for n in (width, pitch))
    return narrow or (width or 0) % _COLUMN_BYTES > 0 or (pitch or 0) % _PITCH_BYTES > 0


def changes_widths(op: Operation) -> bool:
    """The same bits as elements of another width."""
    return isinstance(op, BitcastOp) and _bits(_element(op.source.type)) != _bits(_element(op.result.type))


def is_not_distributed(op: Operation) -> bool:
    """An operation on vectors that MLIR knows and does not distribute."""
    vectors = any(isinstance(value.type, VectorType) for value in op.operands)
    return isinstance(op, FromElementsOp) or (op.name in _NOT_DISTRIBUTED and vectors)


def reshapes_rows(op: Operation) -> bool:
    """A vector with other rows than before; dimensions of one element do not count."""
    if not isinstance(op, ShapeCastOp) or max(v.type.get_num_dims() for v in (op.source, op.result)) > _MATRIX:
        return False
    before, after = ([n for n in v.type.get_shape() if n > 1] for v in (op.source, op.result))
    return before != after


def has_no_builtin(op: Operation) -> bool:
    """A function that OpenCL has, and MLIR's conversion does not."""
    return op.name in _NO_BUILTIN


def selects_by_scalar(op: Operation) -> bool:
    """A choice between whole vectors."""
    if not isinstance(op, SelectOp) or not isinstance(op.result.type, VectorType):
        return False
    return not isinstance(op.cond.type, VectorType)


def is_uneven_constant(op: Operation) -> bool:
    """A constant vector of different numbers."""
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return False
    data, size = op.value.data.data, op.value.type.element_type.compile_time_size
    return data != data[:size] * (len(data) // size)  # bytes: NaN is not equal to itself


def reshapes_blocks(op: Operation) -> bool:
    """A vector of more than two dimensions, as blocked matrices are."""
    return isinstance(op, ShapeCastOp | TransposeOp) and op.result.type.get_num_dims() > _MATRIX


def _block(op: Operation) -> Ints | None:
    """What one message takes of a block of a matrix, where the operation says it."""
    return None if _is_line(op) or isinstance(op, LoadMatrixOp | StoreMatrixOp) else _inst_data(_layout(op))


def _layout(op: Operation) -> LayoutAttr | None:
    """The layout of a block of a matrix, in memory of either kind."""
    if not isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp | LoadMatrixOp | StoreMatrixOp):
        return None
    return op.layout if isinstance(op.layout, LayoutAttr) else None


def _is_line(op: Operation) -> bool:
    return isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp) and op.desc.type.get_num_dims() < _MATRIX


def _extent(op: CreateNdTdescOp) -> tuple[Sequence[Index | None], Sequence[Index | None]]:
    """The shape and the strides of a matrix; None where the launch says them."""
    type_ = op.source.type
    if op.mixed_shape or not isinstance(type_, MemRefType):
        return op.mixed_shape, op.mixed_strides
    shape = [None if n == DYNAMIC_INDEX else n for n in type_.get_shape()]
    return shape, type_.get_strides() or [None] * len(shape)


def _inst_data(layout: object) -> Ints | None:
    return layout.data.inst_data if isinstance(layout, LayoutAttr) else None


def _is_transposed(op: Operation) -> bool:
    layout = op.properties.get("layout")
    return isinstance(layout, LayoutAttr) and layout.data.order == _TRANSPOSED


def _bits(desc: Attribute) -> int:
    element = desc.element_type if isinstance(desc, TensorDescType) else desc
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 0


def _element(vector: Attribute) -> Attribute:
    return vector.element_type if isinstance(vector, VectorType) else vector
