"""Level of a kernel: written for the whole work-group, or for each of its sub-groups."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation

from codegen.xe.dialects import gpu
from codegen.xe.dialects.xegpu import (
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
    TensorDescType,
)
from codegen.xe.dialects.xetile import (
    TileAttr,
    TileType,
    WgMap,
)
from tests.oracle.frame import name_of
from tests.oracle.memory import is_local

_PLACES = {
    gpu.ThreadIdOp.name,
    gpu.GlobalIdOp.name,
    gpu.SubgroupIdOp.name,
    gpu.LaneIdOp.name,
}
_SHARED = {"xegpu.atomic_rmw", "xetile.atomic_rmw", "memref.atomic_rmw", "xegpu.init_nbarrier", gpu.BarrierOp.name}


def is_whole(operations: Sequence[Operation]) -> bool:
    """Return whether operations are written for the whole work-group: some type distributes work to sub-groups."""
    return any(_distributes(attribute) for op in operations for attribute in _attributes(op))


def is_alike(operations: Sequence[Operation]) -> bool:
    """Return whether all sub-groups compute the same independently, so that executing one is enough."""
    names = {name_of(op) for op in operations}
    return not names & (_PLACES | _SHARED) and not any(_is_local(t) for op in operations for t in _types(op))


def _attributes(op: Operation) -> Iterator[Attribute]:
    yield from op.properties.values()
    yield from op.attributes.values()
    yield from _types(op)


def _types(op: Operation) -> Iterator[Attribute]:
    yield from (value.type for value in (*op.operands, *op.results))
    yield from (argument.type for region in op.regions for block in region.blocks for argument in block.args)


def _distributes(attribute: Attribute) -> bool:
    if isinstance(attribute, WgMap):
        return True
    if isinstance(attribute, TileType):
        return attribute.traits.wg_map is not None
    if isinstance(attribute, TileAttr):
        return attribute.data.wg_map is not None
    if isinstance(attribute, TensorDescType):
        return attribute.layout is not None and _distributes(attribute.layout)
    if isinstance(attribute, SliceAttr):
        return _distributes(attribute.parent)
    return isinstance(attribute, LayoutAttr | SgMapAttr) and attribute.distribution.sg_layout is not None


def _is_local(type_: Attribute) -> bool:
    return isinstance(type_, MemRefType) and is_local(type_)
