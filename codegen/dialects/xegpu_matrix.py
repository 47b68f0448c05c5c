"""XeGPU's operations on shared local memory: create_mem_desc, mem_desc_subview, load_matrix, store_matrix."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, MemRefType, UnitAttr, VectorType
from xdsl.ir import Attribute, SSAValue
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
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from codegen.dialects.index_list import Index, join, split
from codegen.dialects.xegpu_layout import LayoutAttr, SgMapAttr, SliceAttr
from codegen.dialects.xegpu_types import MemDescType


@irdl_op_definition
class CreateMemDescOp(IRDLOperation):
    """Describe the whole of a buffer in shared local memory as a matrix."""

    name = "xegpu.create_mem_desc"
    source = operand_def(MemRefType)
    mem_desc = result_def(MemDescType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, mem_desc: Attribute, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[source], result_types=[mem_desc], attributes=attributes)


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
        """Where the part lies, in elements."""
        return join(iter(self.offsets), self.const_offsets)


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
        super().__init__(
            operands=[mem_desc, values],
            result_types=[result],
            properties={"const_offsets": numbers} | (properties or {}),
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Where the block lies, in elements."""
        return join(iter(self.offsets), self.const_offsets)


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
        super().__init__(operands=[value, mem_desc, values], properties={"const_offsets": numbers} | (properties or {}))

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Where the block lies, in elements."""
        return join(iter(self.offsets), self.const_offsets)
