"""The part of MLIR's XeGPU dialect that XeTile lowers to, at work-group level.

Layouts stand on the operations: MLIR replaces those that stand on tensor_desc types. Operations print generically,
as MLIR parses them.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from codegen.dialects.cache_hint import XeGPUCacheHint
from codegen.dialects.index_list import Index, markers, split
from codegen.dialects.maps import format_ints
from codegen.dialects.xegpu_types import Distribution, LayoutAttr, TensorDescType

__all__ = [
    "CreateNdTdescOp",
    "Distribution",
    "DpasOp",
    "LayoutAttr",
    "LoadNdOp",
    "PrefetchNdOp",
    "StoreNdOp",
    "TensorDescType",
    "XeGPU",
]


@irdl_op_definition
class CreateNdTdescOp(IRDLOperation):
    """Describe a matrix for 2-D block messages. A memref of static shape needs no shape and strides."""

    name = "xegpu.create_nd_tdesc"
    source = operand_def()
    shape = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    const_shape = opt_prop_def(DenseArrayBase[IntegerType])
    const_strides = opt_prop_def(DenseArrayBase[IntegerType])
    result = result_def(TensorDescType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self, source: SSAValue, result: TensorDescType, shape: Sequence[Index] = (), strides: Sequence[Index] = ()
    ) -> None:
        dynamic_shape, const_shape = split(shape)
        dynamic_strides, const_strides = split(strides)
        super().__init__(
            operands=[source, dynamic_shape, dynamic_strides],
            result_types=[result],
            properties={"const_shape": const_shape, "const_strides": const_strides} if shape else {},
        )

    def verify_(self) -> None:
        static = isinstance(self.source.type, MemRefType) and self.source.type.has_static_shape()
        if static and (self.const_shape is not None or self.const_strides is not None):
            raise VerifyException(f"create_nd_tdesc: expected no shape for the static {self.source.type}, got one")
        if not static and (self.const_shape is None or self.const_strides is None):
            raise VerifyException(f"create_nd_tdesc: expected shape and strides for {self.source.type}, got none")
        if len(self.shape) != markers(self.const_shape) or len(self.strides) != markers(self.const_strides):
            raise VerifyException("create_nd_tdesc: expected a value for each marker in shape and strides")


@irdl_op_definition
class LoadNdOp(IRDLOperation):
    """Load a block of a matrix; zero outside it."""

    name = "xegpu.load_nd"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    layout = opt_prop_def(LayoutAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    def __init__(self, desc: SSAValue, offsets: Sequence[Index], properties: dict[str, Attribute]) -> None:
        values, numbers = split(offsets)
        super().__init__(
            operands=[desc, values],
            result_types=[cast(TensorDescType, desc.type).vector_type],
            properties={"const_offsets": numbers} | properties,
        )

    def verify_(self) -> None:
        _verify_block("load_nd", self.desc, self.result.type, self.layout)
        _verify_offsets("load_nd", self.desc, self.offsets, self.const_offsets)


@irdl_op_definition
class PrefetchNdOp(IRDLOperation):
    """Bring a block of a matrix into caches."""

    name = "xegpu.prefetch_nd"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    layout = opt_prop_def(LayoutAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, desc: SSAValue, offsets: Sequence[Index], properties: dict[str, Attribute]) -> None:
        values, numbers = split(offsets)
        super().__init__(operands=[desc, values], properties={"const_offsets": numbers} | properties)

    def verify_(self) -> None:
        _verify_block("prefetch_nd", self.desc, cast(TensorDescType, self.desc.type).vector_type, self.layout)
        _verify_offsets("prefetch_nd", self.desc, self.offsets, self.const_offsets)


@irdl_op_definition
class StoreNdOp(IRDLOperation):
    """Store a block of a matrix; elements outside it are dropped."""

    name = "xegpu.store_nd"
    value = operand_def(VectorType)
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    layout = opt_prop_def(LayoutAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self, value: SSAValue, desc: SSAValue, offsets: Sequence[Index], properties: dict[str, Attribute]
    ) -> None:
        values, numbers = split(offsets)
        super().__init__(operands=[value, desc, values], properties={"const_offsets": numbers} | properties)

    def verify_(self) -> None:
        _verify_block("store_nd", self.desc, self.value.type, self.layout)
        _verify_offsets("store_nd", self.desc, self.offsets, self.const_offsets)


@irdl_op_definition
class DpasOp(IRDLOperation):
    """`d = a @ b + c` (or `a @ b`), a [M, K], b [K, N], c and d [M, N]."""

    name = "xegpu.dpas"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = opt_operand_def(VectorType)
    layout_a = opt_prop_def(LayoutAttr)
    layout_b = opt_prop_def(LayoutAttr)
    layout_cd = opt_prop_def(LayoutAttr)
    d = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue | None, d: Attribute, properties: dict[str, Attribute]
    ) -> None:
        super().__init__(operands=[a, b, c], result_types=[d], properties=properties)

    def verify_(self) -> None:
        a, b, d = (cast(VectorType, v.type).get_shape() for v in (self.a, self.b, self.d))
        if not len(a) == len(b) == len(d) == 2 or a[1] != b[0] or d != (a[0], b[1]):
            raise VerifyException(
                f"dpas: expected (m x k) (k x n) = (m x n), got {format_ints(a)} {format_ints(b)} = {format_ints(d)}"
            )
        if self.c is not None and self.c.type != self.d.type:
            raise VerifyException(f"dpas: expected c and the result of one type, got {self.c.type} and {self.d.type}")
        for name, layout, shape in (("a", self.layout_a, a), ("b", self.layout_b, b), ("cd", self.layout_cd, d)):
            if layout is not None:
                layout.verify_distributes(f"dpas: layout_{name}", shape)


def _verify_block(op: str, desc: SSAValue, value: Attribute, layout: LayoutAttr | None) -> None:
    block = cast(TensorDescType, desc.type).vector_type
    if value != block:
        raise VerifyException(f"{op}: expected {block}, got {value}")
    if layout is not None:
        layout.verify_distributes(op, block.get_shape())


def _verify_offsets(
    op: str, desc: SSAValue, offsets: Sequence[SSAValue], const_offsets: DenseArrayBase[IntegerType]
) -> None:
    rank = cast(TensorDescType, desc.type).vector_type.get_num_dims()
    if len(const_offsets) < rank:
        raise VerifyException(f"{op}: expected at least {rank} offsets, got {len(const_offsets)}")
    if len(offsets) != markers(const_offsets):
        raise VerifyException(f"{op}: expected a value for each marker in const_offsets, got {len(offsets)}")


XeGPU = Dialect(
    "xegpu",
    [CreateNdTdescOp, LoadNdOp, PrefetchNdOp, StoreNdOp, DpasOp],
    [LayoutAttr, TensorDescType, XeGPUCacheHint],
)
