"""Fences."""

from collections.abc import Mapping

from xdsl.ir import Operation

from codegen.xe.dialects.upstream.xevm import (
    AddrSpace,
    MemfenceOp,
    MemScope,
)
from codegen.xe.dialects.xegpu import (
    FenceOp,
    FenceScope,
    MemorySpace,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)


def _fence(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, FenceOp)
    space = AddrSpace.SHARED if op.memory_kind.data is MemorySpace.SLM else AddrSpace.GLOBAL
    scope = MemScope.DEVICE if op.fence_scope.data is FenceScope.GPU else MemScope.WORKGROUP
    lowering.emitter.add(MemfenceOp(space, scope))


HANDLERS: Mapping[str, Handler] = {"xegpu.fence": _fence}
