"""XeGPU's operations on scattered elements: create_tdesc, load, store, prefetch, update_offset, atomic_rmw."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
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

from codegen.dialects.cache_hint import XeGPUCacheHint
from codegen.dialects.index_list import Index, join, split
from codegen.dialects.kinds import AtomicKind, AtomicKindAttr
from codegen.dialects.xegpu_layout import LayoutAttr, SgMapAttr, SliceAttr
from codegen.dialects.xegpu_types import TensorDescType


@irdl_op_definition
class CreateTdescOp(IRDLOperation):
    """Describe the elements, or chunks of elements, at `offsets` from a base, in elements.

    The offsets are one vector, or a list that mixes numbers and values of type index.
    """

    name = "xegpu.create_tdesc"
    source = operand_def()
    dynamic = var_operand_def()  # the vector of offsets; or the values among a list of offsets
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        offsets: SSAValue | Sequence[Index],
        result: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue]
        properties: dict[str, Attribute] = {}
        if isinstance(offsets, SSAValue):
            dynamic = [offsets]
        else:
            dynamic, properties["const_offsets"] = split(offsets)
        super().__init__(
            operands=[source, dynamic], result_types=[result], properties=properties, attributes=attributes
        )

    @property
    def offsets(self) -> SSAValue | None:
        """The vector of offsets; None if they are a list."""
        return self.dynamic[0] if self.const_offsets is None else None

    @property
    def offset_list(self) -> tuple[Index, ...]:
        """The list of offsets; empty if they are a vector."""
        return join(iter(self.dynamic), self.const_offsets)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Load elements, or chunks of them: of a scattered descriptor, or at `offsets` from a base.

    `mask` has one entry for each offset; what is masked out is not loaded. `transpose` puts chunks in columns.
    """

    name = "xegpu.load"
    source = operand_def()
    offsets = opt_operand_def()
    mask = operand_def()
    chunk_size = opt_prop_def(IntegerAttr)
    transpose = opt_prop_def(UnitAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        source: SSAValue,
        offsets: SSAValue | None,
        mask: SSAValue,
        result: Attribute,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[source, offsets, mask], result_types=[result], properties=properties or {})


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Store elements, or chunks of them: to a scattered descriptor, or at `offsets` from a base."""

    name = "xegpu.store"
    value = operand_def()
    dest = operand_def()
    offsets = opt_operand_def()
    mask = operand_def()
    chunk_size = opt_prop_def(IntegerAttr)
    transpose = opt_prop_def(UnitAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        dest: SSAValue,
        offsets: SSAValue | None,
        mask: SSAValue,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[value, dest, offsets, mask], properties=properties or {})


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Bring scattered elements into caches."""

    name = "xegpu.prefetch"
    source = operand_def()
    offsets = opt_operand_def()
    offset_align_byte = opt_prop_def(IntegerAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, source: SSAValue, offsets: SSAValue | None = None, properties: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(operands=[source, offsets], properties=properties or {})


@irdl_op_definition
class UpdateOffsetOp(IRDLOperation):
    """The scattered descriptor whose elements lie `offsets` elements further, one number for each."""

    name = "xegpu.update_offset"
    desc = operand_def(TensorDescType)
    offsets = operand_def()
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(self, desc: SSAValue, offsets: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[desc, offsets], result_types=[desc.type], attributes=attributes)


@irdl_op_definition
class AtomicRmwOp(IRDLOperation):
    """Update the elements of a scattered descriptor, each atomically; the result is the old values."""

    name = "xegpu.atomic_rmw"
    tensor_desc = operand_def(TensorDescType)
    mask = operand_def()
    value = operand_def()
    kind = prop_def(AtomicKindAttr)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        kind: AtomicKind,
        tensor_desc: SSAValue,
        mask: SSAValue,
        value: SSAValue,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[tensor_desc, mask, value],
            result_types=[value.type],
            properties={"kind": AtomicKindAttr(kind)} | (properties or {}),
        )
