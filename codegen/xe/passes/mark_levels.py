"""The level of a kernel: written for a work-group or a sub-group as a whole, or for each work-item (SIMT).

XeGPU says it by types: at work-item level, the values of accesses to a block are the part that one work-item holds
of it, and scattered accesses take one offset. Shapes are those that the operations verify.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import cast

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects import gpu
from codegen.xe.dialects.kernel_attributes import WORK_ITEMS
from codegen.xe.dialects.xegpu import (
    AtomicRmwOp,
    ConvertLayoutOp,
    DpasOp,
    LoadNdOp,
    LoadOp,
    PrefetchOp,
    StoreNdOp,
    StoreOp,
    TensorDescType,
)
from codegen.xe.dialects.xegpu.verify import shape_of
from codegen.xe.locations import OperationFailed
from codegen.xe.passes.distribute.analysis import most_subgroups
from codegen.xe.subgroup import subgroup_size


def mark_levels(kernel: gpu.FuncOp) -> None:
    """Mark a kernel that is written for work-items.

    Raises:
        OperationFailed: operations of different levels, or of a sub-group of another size.
    """
    levels = [(op, level) for op in kernel.walk() if (level := _is_of_work_items(op)) is not None]
    own = next((op for op, level in levels if level), None)
    if own is None:
        return
    whole = next((op for op, level in levels if not level), None)
    if whole is not None or most_subgroups(kernel):
        got = (
            "layouts with sg_layout, which a work-group has" if whole is None else f"{whole.name} of a whole sub-group"
        )
        raise OperationFailed.at(
            own,
            f"kernel {kernel.sym_name.data}: expected operations of one level, got {own.name} of a work-item and {got}",
        )
    kernel.attributes[WORK_ITEMS] = UnitAttr()


def _is_of_work_items(op: Operation) -> bool | None:
    """Return True for an operation of work-items, False for one of a sub-group or a work-group, None for either."""
    if op.name.startswith("xetile."):
        return False
    tell = _TELL.get(type(op))
    return None if tell is None else tell(op)


def _of_block(op: Operation) -> bool:
    assert isinstance(op, LoadNdOp | StoreNdOp)
    desc = cast(TensorDescType, op.desc.type)
    value = op.result if isinstance(op, LoadNdOp) else op.value
    return _is_fragment(op, value, prod(desc.get_shape()) * desc.block.array_length)


def _of_scattered(op: Operation) -> bool:
    assert isinstance(op, LoadOp | StoreOp)
    if op.offsets is not None:
        return shape_of(op.offsets.type) in ((), (1,))
    base, value = (op.source, op.result) if isinstance(op, LoadOp) else (op.dest, op.value)
    return _is_fragment(op, value, prod(cast(TensorDescType, base.type).get_shape()))


def _of_prefetch(op: Operation) -> bool | None:
    assert isinstance(op, PrefetchOp)
    return None if op.offsets is None else shape_of(op.offsets.type) in ((), (1,))


def _of_update(op: Operation) -> bool:
    assert isinstance(op, AtomicRmwOp)
    return _is_fragment(op, op.value, prod(cast(TensorDescType, op.tensor_desc.type).get_shape()))


def _of_product(op: Operation) -> bool:
    assert isinstance(op, DpasOp)
    return op.is_of_work_items


def _is_fragment(op: Operation, value: SSAValue, elements: int) -> bool:
    held = prod(shape_of(value.type))
    if held not in (elements, elements // subgroup_size()):
        raise OperationFailed.at(
            op,
            f"{op.name}: expected the value of a whole sub-group, {elements} elements, or of one of its "
            f"{subgroup_size()} work-items, {elements // subgroup_size()}, got {value.type}",
        )
    return held != elements


_TELL: Mapping[type[Operation], Callable[[Operation], bool | None]] = {
    LoadNdOp: _of_block,
    StoreNdOp: _of_block,
    LoadOp: _of_scattered,
    StoreOp: _of_scattered,
    PrefetchOp: _of_prefetch,
    AtomicRmwOp: _of_update,
    DpasOp: _of_product,
    ConvertLayoutOp: lambda op: False,  # the specification has it above work-items alone
}
