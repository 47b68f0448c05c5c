"""XeGPU's synchronisation: named barriers and fences."""

from xdsl.dialects.builtin import IntegerAttr, i8, i64
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
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from codegen.dialects.xegpu_memory import FenceScope, FenceScopeAttr, MemorySpace, MemorySpaceAttr
from codegen.dialects.xegpu_types import NbarrierType


@irdl_op_definition
class AllocNbarrierOp(IRDLOperation):
    """Allocate the named barriers of a work-group; how many is an attribute, in the RFC an operand."""

    name = "xegpu.alloc_nbarrier"
    count = opt_operand_def()
    nbarrier_num = opt_prop_def(IntegerAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, count: int | SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        number = isinstance(count, int)
        super().__init__(
            operands=[None if number else count],
            properties={"nbarrier_num": IntegerAttr(count, i64)} if number else {},
            attributes=attributes,
        )


@irdl_op_definition
class InitNbarrierOp(IRDLOperation):
    """Bind the sub-group to a named barrier that so many sub-groups meet at."""

    name = "xegpu.init_nbarrier"
    nbarrier_id = operand_def(i8)
    participant_thread_num = operand_def(i8)
    result = result_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, nbarrier_id: SSAValue, participant_thread_num: SSAValue, attributes: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(
            operands=[nbarrier_id, participant_thread_num], result_types=[NbarrierType()], attributes=attributes
        )


@irdl_op_definition
class NbarrierArriveOp(IRDLOperation):
    """Say that the sub-group has arrived at a named barrier."""

    name = "xegpu.nbarrier_arrive"
    nbarrier = operand_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, nbarrier: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[nbarrier], attributes=attributes)


@irdl_op_definition
class NbarrierWaitOp(IRDLOperation):
    """Wait until every sub-group of a named barrier has arrived."""

    name = "xegpu.nbarrier_wait"
    nbarrier = operand_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, nbarrier: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[nbarrier], attributes=attributes)


@irdl_op_definition
class FenceOp(IRDLOperation):
    """Order the accesses to a memory before it and after it, as a work-group or the whole device sees them."""

    name = "xegpu.fence"
    memory_kind = prop_def(MemorySpaceAttr)
    fence_scope = prop_def(FenceScopeAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, memory_kind: MemorySpace, fence_scope: FenceScope, attributes: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(
            properties={"memory_kind": MemorySpaceAttr(memory_kind), "fence_scope": FenceScopeAttr(fence_scope)},
            attributes=attributes,
        )
