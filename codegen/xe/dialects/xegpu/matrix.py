"""XeGPU's operations on shared local memory: create_mem_desc, mem_desc_subview, load_matrix, store_matrix."""

from collections.abc import Sequence
from math import prod
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, MemRefType, UnitAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.elements import verify_element
from codegen.xe.dialects.index_list import (
    Index,
    join,
    parse_indices,
    print_indices,
    split,
)
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu.layout import (
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.memory import MemorySpace
from codegen.xe.dialects.xegpu.syntax import (
    parse_extras,
    parse_full_signature,
    parse_signature,
    print_extras,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import (
    MemDescType,
    bits,
)
from codegen.xe.dialects.xegpu.verify import (
    element_of,
    shape_of,
    short,
    space_of,
    verify_layout,
    verify_markers,
)


@irdl_op_definition
class CreateMemDescOp(IRDLOperation):
    """Describe a whole buffer in shared local memory as a matrix."""

    name = "xegpu.create_mem_desc"
    source = operand_def(MemRefType)
    mem_desc = result_def(MemDescType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, mem_desc: Attribute, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[source], result_types=[mem_desc], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        attributes = parse_extras(parser).entries
        types, result = parse_full_signature(parser)
        return cls(parser.resolve_operand(source, types[0]), result, attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.source)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.source, result=self.mem_desc)

    def verify_(self) -> None:
        base, desc = self.source.type, self.mem_desc.type
        assert isinstance(base, MemRefType)
        if space_of(base) is not MemorySpace.SLM:
            raise VerifyException(f"create_mem_desc: expected a memref in shared local memory (space 3), got {base}")
        if not base.has_static_shape():
            raise VerifyException(f"create_mem_desc: expected a memref of static shape, got {base}")
        verify_element("create_mem_desc", base.element_type)
        have, need = (prod(t.get_shape()) * bits(t.element_type) for t in (base, desc))
        if have != need:
            raise VerifyException(
                f"create_mem_desc: expected a memref of {need // 8} bytes for {desc}, got {have // 8}"
            )


@irdl_op_definition
class MemDescSubviewOp(IRDLOperation):
    """The part of a matrix at `offsets`; leading dimensions of one may be left out."""

    name = "xegpu.mem_desc_subview"
    source = operand_def(MemDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    result = result_def(MemDescType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        result: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        values, numbers = split(offsets)
        super().__init__(
            operands=[source, values],
            result_types=[result],
            properties={"const_offsets": numbers},
            attributes=attributes,
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Offsets of the part, in elements."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        offsets = parse_indices(parser)
        attributes = parse_extras(parser).entries
        types, result = parse_full_signature(parser)
        return cls(parser.resolve_operand(source, types[0]), offsets, result, attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.source)
        print_indices(printer, self.mixed_offsets)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.source, result=self.result)

    def verify_(self) -> None:
        base, part = _desc(self.source), self.result.type
        if part.element_type != base.element_type:
            raise VerifyException(f"mem_desc_subview: expected {base.element_type}, got {part.element_type}")
        if part.get_num_dims() > base.get_num_dims():
            raise VerifyException(
                f"mem_desc_subview: expected at most {base.get_num_dims()} dimensions, got {part.get_num_dims()}"
            )
        _verify_offsets(self, self.source, self.offsets, self.const_offsets)
        _verify_bounds(self, base, self.mixed_offsets, part.get_shape())
        rank = part.get_num_dims()
        if part.stride != base.stride[-rank:]:
            raise VerifyException(
                f"mem_desc_subview: expected the strides {format_ints(base.stride[-rank:])} of {base}, "
                f"got {format_ints(part.stride)}"
            )
        block = base.block[-rank:] if base.block is not None else None
        if part.block != block:
            got = format_ints(part.block or ())
            raise VerifyException(f"mem_desc_subview: expected block {format_ints(block or ())} of {base}, got {got}")


@irdl_op_definition
class LoadMatrixOp(IRDLOperation):
    """Load a block of a matrix in shared local memory."""

    name = "xegpu.load_matrix"
    mem_desc = operand_def(MemDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    subgroup_block_io = opt_prop_def(UnitAttr)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        mem_desc: SSAValue,
        offsets: Sequence[Index],
        result: Attribute,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        values, numbers = split(offsets)
        initialise(self, (mem_desc, *values), (result,), {"const_offsets": numbers} | (properties or {}))

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Offsets of the block, in elements."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        offsets = parse_indices(parser)
        properties, attributes = parse_extras(parser).split(cls)
        types, result = parse_full_signature(parser)
        op = cls(parser.resolve_operand(desc, types[0]), offsets, result, properties)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_values(printer, self.mem_desc)
        print_indices(printer, self.mixed_offsets)
        print_extras(printer, self, ("const_offsets",))
        print_types(printer, self.mem_desc, *self.offsets, result=self.result)

    def verify_(self) -> None:
        _verify_access(self, self.result.type)


@irdl_op_definition
class StoreMatrixOp(IRDLOperation):
    """Store a block of a matrix in shared local memory."""

    name = "xegpu.store_matrix"
    value = operand_def(VectorType)
    mem_desc = operand_def(MemDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    subgroup_block_io = opt_prop_def(UnitAttr)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        mem_desc: SSAValue,
        offsets: Sequence[Index],
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        values, numbers = split(offsets)
        initialise(self, (value, mem_desc, *values), properties={"const_offsets": numbers} | (properties or {}))

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Offsets of the block, in elements."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        desc = parser.parse_unresolved_operand()
        offsets = parse_indices(parser)
        properties, attributes = parse_extras(parser).split(cls)
        types, _ = parse_signature(parser)
        data, target = resolve(parser, [value, desc], types[:2])
        op = cls(data, target, offsets, properties)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_values(printer, self.value, self.mem_desc)
        print_indices(printer, self.mixed_offsets)
        print_extras(printer, self, ("const_offsets",))
        print_types(printer, self.value, self.mem_desc, *self.offsets)

    def verify_(self) -> None:
        _verify_access(self, self.value.type)


def _desc(value: SSAValue) -> MemDescType:
    assert isinstance(value.type, MemDescType)
    return value.type


def _verify_offsets(
    op: Operation, desc: SSAValue, offsets: Sequence[SSAValue], const_offsets: DenseArrayBase[IntegerType]
) -> None:
    verify_markers(op, offsets, const_offsets)
    rank = _desc(desc).get_num_dims()
    if len(const_offsets) != rank:
        raise VerifyException(f"{short(op)}: expected {rank} offsets for {desc.type}, got {len(const_offsets)}")


def _verify_bounds(op: Operation, desc: MemDescType, offsets: Sequence[Index], shape: Sequence[int]) -> None:
    """Check that a block lies within a matrix, as far as offsets are constant; its dimensions are the last ones."""
    sizes = (1,) * (desc.get_num_dims() - len(shape)) + tuple(shape)
    for axis, (offset, size, extent) in enumerate(zip(offsets, sizes, desc.get_shape(), strict=True)):
        start = offset if isinstance(offset, int) else 0
        if start < 0 or start + size > extent:
            raise VerifyException(
                f"{short(op)}: dimension {axis} of {extent}: expected a block within it, got {start} to {start + size}"
            )


def _verify_access(op: LoadMatrixOp | StoreMatrixOp, value: Attribute) -> None:
    desc, shape = _desc(op.mem_desc), shape_of(value)
    if element_of(value) != desc.element_type:
        raise VerifyException(f"{short(op)}: expected elements of {desc.element_type}, got {element_of(value)}")
    _verify_offsets(op, op.mem_desc, op.offsets, op.const_offsets)
    if len(shape) > desc.get_num_dims():
        raise VerifyException(
            f"{short(op)}: expected a value of at most {desc.get_num_dims()} dimensions, got {format_ints(shape)}"
        )
    if len(shape) > 1 or desc.get_num_dims() == 1:  # a one-dimensional value may be a work-item's fragment
        _verify_bounds(op, desc, op.mixed_offsets, shape)
    verify_layout(op, "layout", op.layout, shape)
    if op.subgroup_block_io is not None:
        _verify_block_io(op, desc)


def _verify_block_io(op: LoadMatrixOp | StoreMatrixOp, desc: MemDescType) -> None:
    if desc.block is None:
        raise VerifyException(f"{short(op)}: expected a blocked matrix for subgroup_block_io, got {desc}")
    layout = op.layout.distribution if op.layout is not None else None
    if layout is not None and layout.lane_layout is not None and layout.lane_layout != desc.block:
        raise VerifyException(
            f"{short(op)}: expected lane_layout {format_ints(desc.block)} as the blocks for subgroup_block_io, "
            f"got {format_ints(layout.lane_layout)}"
        )
