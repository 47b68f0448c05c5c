"""XeGPU's operations on blocks of matrices: create_nd_tdesc, load_nd, store_nd, prefetch_nd, update_nd_offset."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, IntegerType, UnitAttr, VectorType, i32
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

from codegen.dialects.cache_hint import XeGPUCacheHint
from codegen.dialects.index_list import Index, join, split
from codegen.dialects.xegpu_layout import LayoutAttr, SgMapAttr, SliceAttr
from codegen.dialects.xegpu_types import TensorDescType


@irdl_op_definition
class CreateNdTdescOp(IRDLOperation):
    """Describe a block of a matrix. A memref of static shape needs no shape and strides.

    Offsets may stand here, on the accesses, or on both, which adds them up; those here have the rank of the source.
    """

    name = "xegpu.create_nd_tdesc"
    source = operand_def()
    dynamic = var_operand_def(IndexType)  # the values among offsets, shape and strides, in this order
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    const_shape = opt_prop_def(DenseArrayBase[IntegerType])
    const_strides = opt_prop_def(DenseArrayBase[IntegerType])
    # Offsets have no segment unless there are some: then the generic form is also that of an MLIR without them.
    segments = opt_prop_def(DenseArrayBase[IntegerType], prop_name="operandSegmentSizes")
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        result: Attribute,
        shape: Sequence[Index] = (),
        strides: Sequence[Index] = (),
        offsets: Sequence[Index] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue] = []
        properties: dict[str, Attribute] = {}
        sizes = [1]
        for key, values in (("const_offsets", offsets), ("const_shape", shape), ("const_strides", strides)):
            now, numbers = split(values)
            dynamic += now
            if values:
                properties[key] = numbers
            if values or key != "const_offsets":
                sizes.append(len(now))
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        super().__init__(
            operands=[source, dynamic], result_types=[result], properties=properties, attributes=attributes
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Where the block starts in each dimension of the source; empty if not said."""
        return self._lists()[0]

    @property
    def mixed_shape(self) -> tuple[Index, ...]:
        """Elements of the source in each dimension; empty if its type says them."""
        return self._lists()[1]

    @property
    def mixed_strides(self) -> tuple[Index, ...]:
        """Elements from one entry of the source to the next in each dimension; empty if its type says them."""
        return self._lists()[2]

    def _lists(self) -> tuple[tuple[Index, ...], tuple[Index, ...], tuple[Index, ...]]:
        values = iter(self.dynamic)
        return join(values, self.const_offsets), join(values, self.const_shape), join(values, self.const_strides)


@irdl_op_definition
class LoadNdOp(IRDLOperation):
    """Load a block of a matrix; zero outside it, or what the attribute `padding` says.

    `transpose` swaps the dimensions, in units of `transpose_bit_width`; `packed` puts rows that share a 32-bit word
    next to each other, in a last dimension. Blocks of array_length are the first dimension of the result.
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
        super().__init__(
            operands=[desc, values],
            result_types=[result or cast(TensorDescType, desc.type).vector_type],
            properties={"const_offsets": numbers} | properties,
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if the descriptor has them."""
        return join(iter(self.offsets), self.const_offsets)


@irdl_op_definition
class PrefetchNdOp(IRDLOperation):
    """Bring a block of a matrix into caches."""

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
        super().__init__(operands=[desc, values], properties={"const_offsets": numbers} | properties)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if the descriptor has them."""
        return join(iter(self.offsets), self.const_offsets)


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
        super().__init__(operands=[value, desc, values], properties={"const_offsets": numbers} | properties)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """The offsets; empty if the descriptor has them."""
        return join(iter(self.offsets), self.const_offsets)


@irdl_op_definition
class UpdateNdOffsetOp(IRDLOperation):
    """The descriptor of the block that lies `offsets` elements further."""

    name = "xegpu.update_nd_offset"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self, desc: SSAValue, offsets: Sequence[Index], attributes: dict[str, Attribute] | None = None
    ) -> None:
        values, numbers = split(offsets)
        super().__init__(
            operands=[desc, values],
            result_types=[desc.type],
            properties={"const_offsets": numbers},
            attributes=attributes,
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Elements to move by in each dimension."""
        return join(iter(self.offsets), self.const_offsets)
