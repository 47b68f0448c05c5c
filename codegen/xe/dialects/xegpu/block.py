"""XeGPU's block accesses: load_nd, store_nd, prefetch_nd."""

from collections.abc import Sequence
from typing import Self, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.cache_hint import (
    XeGPUCacheHint,
    parse_optional_locality,
    verify_read_hints,
    verify_write_hints,
)
from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.index_list import (
    Index,
    join,
    split,
)
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu.descriptor import CreateNdTdescOp
from codegen.xe.dialects.xegpu.layout import (
    DistributeLayout,
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.memory import MemorySpaceAttr
from codegen.xe.dialects.xegpu.syntax import (
    Extras,
    parse_extras,
    parse_full_signature,
    parse_optional_indices,
    parse_signature,
    print_extras,
    print_optional_indices,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import (
    TensorDescType,
    bits,
)
from codegen.xe.dialects.xegpu.verify import (
    fragments,
    short,
    verify_layout,
    verify_markers,
    verify_value,
)

_Access = TypeVar("_Access", bound=IRDLOperation)


@irdl_op_definition
class LoadNdOp(IRDLOperation):
    """Load a block of a matrix; elements outside it are zero, or the attribute `padding`.

    `transpose` swaps the dimensions, in units of `transpose_bit_width`; `packed` interleaves rows that share
    a 32-bit word in a last dimension. With array_length, the blocks are the first dimension of the result.
    """

    name = "xegpu.load_nd"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    packed = opt_prop_def(UnitAttr)
    transpose = opt_prop_def(DenseArrayBase[IntegerType])
    transpose_bit_width = opt_prop_def(IntegerAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        desc: SSAValue,
        offsets: Sequence[Index],
        properties: dict[str, Attribute],
        result: Attribute | None = None,
    ) -> None:
        values, numbers = split(offsets)
        result = result or cast(TensorDescType, desc.type).vector_type
        initialise(self, (desc, *values), (result,), {"const_offsets": numbers} | properties)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if they are on the descriptor."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        offsets = parse_optional_indices(parser)
        extras = parse_extras(parser)
        types, result = parse_full_signature(parser)
        if extras.entries.get("transpose") == UnitAttr():
            extras.entries["transpose"] = DenseArrayBase.from_list(i64, (1, 0))
        return _access(cls, resolve(parser, [desc], types), offsets, extras, [result])

    def print(self, printer: Printer) -> None:
        print_values(printer, self.desc)
        print_optional_indices(printer, self.mixed_offsets, self.const_offsets)
        print_extras(printer, self, ("const_offsets",))
        print_types(printer, self.desc, result=self.result)

    def verify_(self) -> None:
        desc = _verify_access(self, self.desc, self.mixed_offsets, self.layout)
        verify_markers(self, self.offsets, self.const_offsets)
        verify_read_hints(self)
        self._verify_rearrangement(desc)
        shapes = self._whole_shapes(desc)
        whole = (desc.block.array_length, *desc.get_shape())
        shapes += tuple(fragments(whole, self.layout or desc.layout))
        verify_value(self, self.result.type, desc.element_type, shapes)
        padding = self.attributes.get("padding")
        if padding is not None and not (
            isinstance(padding, FloatAttr | IntegerAttr) and padding.type == desc.element_type
        ):
            raise VerifyException(f"load_nd: expected padding to be a number of {desc.element_type}, got {padding}")

    def _verify_rearrangement(self, desc: TensorDescType) -> None:
        width, shape = bits(desc.element_type), desc.get_shape()
        if self.packed is not None and self.transpose is not None:
            raise VerifyException("load_nd: expected packed or transpose, got both")
        if (self.packed is not None or self.transpose is not None) and len(shape) != 2:
            raise VerifyException(f"load_nd: expected a block of two dimensions to rearrange, got {format_ints(shape)}")
        if self.packed is not None and (width >= 32 or shape[0] % (32 // width)):
            raise VerifyException(
                f"load_nd: expected rows of less than 32 bits that fill words to pack, "
                f"got {shape[0]} of {desc.element_type}"
            )
        if self.transpose is not None and self.transpose.get_values() != (1, 0):
            raise VerifyException(f"load_nd: expected transpose [1, 0], got {format_ints(self.transpose.get_values())}")
        unit = self.transpose_bit_width.value.data if self.transpose_bit_width is not None else width
        if self.transpose_bit_width is not None and self.transpose is None:
            raise VerifyException("load_nd: expected transpose with transpose_bit_width, got none")
        if self.transpose is not None and (unit < width or unit % width or shape[1] % (unit // width)):
            raise VerifyException(
                f"load_nd: expected transpose_bit_width to hold whole elements of {width} bits and to divide rows "
                f"of {shape[1]}, got {unit}"
            )

    def _whole_shapes(self, desc: TensorDescType) -> tuple[Ints, ...]:
        """Return the possible shapes of a result that is the whole block."""
        shape, width = desc.get_shape(), bits(desc.element_type)
        if self.packed is not None:
            shape = (shape[0] * width // 32, shape[1], 32 // width)
        elif self.transpose is not None:
            unit = self.transpose_bit_width.value.data // width if self.transpose_bit_width is not None else 1
            shape = (shape[1] // unit, shape[0] * unit)
        blocks = desc.block.array_length
        return (shape,) if blocks == 1 else ((blocks, *shape), (blocks * shape[0], *shape[1:]))


@irdl_op_definition
class PrefetchNdOp(IRDLOperation):
    """Prefetch a block of a matrix into caches."""

    name = "xegpu.prefetch_nd"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, desc: SSAValue, offsets: Sequence[Index], properties: dict[str, Attribute]) -> None:
        values, numbers = split(offsets)
        initialise(self, (desc, *values), properties={"const_offsets": numbers} | properties)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if they are on the descriptor."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        offsets = parse_optional_indices(parser)
        hints = parse_optional_locality(parser, XeGPUCacheHint)
        extras = parse_extras(parser)
        extras.entries = hints | extras.entries
        types, _ = parse_signature(parser)
        return _access(cls, resolve(parser, [desc], types), offsets, extras, [])

    def print(self, printer: Printer) -> None:
        print_values(printer, self.desc)
        print_optional_indices(printer, self.mixed_offsets, self.const_offsets)
        print_extras(printer, self, ("const_offsets",))
        print_types(printer, self.desc)

    def verify_(self) -> None:
        _verify_access(self, self.desc, self.mixed_offsets, self.layout)
        verify_markers(self, self.offsets, self.const_offsets)
        verify_read_hints(self)


@irdl_op_definition
class StoreNdOp(IRDLOperation):
    """Store a block of a matrix; elements outside it are dropped."""

    name = "xegpu.store_nd"
    value = operand_def(VectorType)
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self, value: SSAValue, desc: SSAValue, offsets: Sequence[Index], properties: dict[str, Attribute]
    ) -> None:
        values, numbers = split(offsets)
        initialise(self, (value, desc, *values), properties={"const_offsets": numbers} | properties)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if they are on the descriptor."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        first = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        second = parser.parse_unresolved_operand()
        offsets = parse_optional_indices(parser)
        extras = parse_extras(parser)
        types, _ = parse_signature(parser)
        operands = resolve(parser, [first, second], types)
        if isinstance(operands[0].type, TensorDescType):  # the RFC has both orders
            operands.reverse()
        return _access(cls, operands, offsets, extras, [])

    def print(self, printer: Printer) -> None:
        print_values(printer, self.value, self.desc)
        print_optional_indices(printer, self.mixed_offsets, self.const_offsets)
        print_extras(printer, self, ("const_offsets",))
        print_types(printer, self.value, self.desc)

    def verify_(self) -> None:
        desc = _verify_access(self, self.desc, self.mixed_offsets, self.layout)
        verify_markers(self, self.offsets, self.const_offsets)
        verify_write_hints(self)
        if desc.block.array_length != 1:
            raise VerifyException(f"store_nd: expected array_length 1, got {desc.block.array_length}")
        shapes = (desc.get_shape(), *fragments(desc.get_shape(), self.layout or desc.layout))
        verify_value(self, self.value.type, desc.element_type, shapes)


def _access(
    op: type[_Access],
    operands: Sequence[SSAValue],
    offsets: Sequence[Index] | None,
    extras: Extras,
    result_types: Sequence[Attribute],
) -> _Access:
    """Create an access with its offsets, if any."""
    values, numbers = split(offsets or ())
    properties, attributes = extras.split(op)
    if offsets is not None:
        properties["const_offsets"] = numbers
    return op.create(
        operands=[*operands, *values], result_types=result_types, properties=properties, attributes=attributes
    )


def _verify_access(
    op: Operation, value: SSAValue, offsets: Sequence[Index], layout: DistributeLayout | None
) -> TensorDescType:
    """Check the common rules of loads, stores and prefetches of a block; return the descriptor's type."""
    desc, name = cast(TensorDescType, value.type), short(op)
    if desc.scatter is not None:
        raise VerifyException(f"{name}: expected a descriptor of a block, got a scattered one")
    rank = desc.get_num_dims()
    if rank > 2:
        raise VerifyException(f"{name}: expected a block of one or two dimensions, got {rank}")
    verify_layout(op, "layout", layout, desc.get_shape())
    space = op.attributes.get("memory_space")
    if isinstance(space, MemorySpaceAttr) and space.data is not desc.memory_space:
        raise VerifyException(
            f"{name}: expected memory_space {desc.memory_space.value} as the descriptor's, got {space.data.value}"
        )
    create = value.owner if isinstance(value.owner, CreateNdTdescOp) else None
    if not offsets and create is not None and not create.mixed_offsets:
        raise VerifyException(f"{name}: expected offsets here or on create_nd_tdesc, got none")
    base = create.source.type if create is not None else None
    most = base.get_num_dims() if isinstance(base, MemRefType) else rank
    if offsets and not (rank <= len(offsets) and (create is None or len(offsets) <= most)):
        raise VerifyException(
            f"{name}: expected {rank} offsets, or one for each dimension of the matrix, got {len(offsets)}"
        )
    return desc
