"""Distributes work-group-level XeGPU to sub-groups: every value becomes the part that one sub-group owns.

Kernels without layouts are at sub-group level already; of them, only scf.if with a range of sub-groups is changed.
"""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from codegen.xe.dialects.creation import drop, walk
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.locations import Rewriting
from codegen.xe.passes.distribute.analysis import most_subgroups
from codegen.xe.passes.distribute.insert_layout_conversions import insert_layout_conversions
from codegen.xe.passes.distribute.ops.control_flow import ControlFlow, restrict_to_ranges
from codegen.xe.passes.distribute.rule import (
    refuse,
    shape_of,
)
from codegen.xe.passes.distribute.rules import rule_of
from codegen.xe.passes.distribute.slm_buffers import Buffers
from codegen.xe.passes.distribute.work import Work
from codegen.xe.subgroup import subgroup_size


@dataclass(frozen=True)
class DistributeToSubgroupsPass(ModulePass):
    """Distributes blocks round robin, or shares them wrapping around; data moves through shared local memory."""

    name = "distribute-to-subgroups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        distribute_to_subgroups(op)


def distribute_to_subgroups(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: something cannot be distributed.
    """
    for func in [op for op in walk(module) if type(op) is FuncOp]:
        with Rewriting(func):
            _distribute_kernel(func)


def _distribute_kernel(func: FuncOp) -> None:
    most = most_subgroups(func)
    if most:
        _distribute(func, _subgroups(func, most))
    elif func.body.blocks:
        size, entry = func.known_block_size, func.body.blocks[0]
        subgroups = None if size is None else prod(size.get_values()) // subgroup_size()
        work = Work(entry, subgroups or 0, {}, InsertPoint.at_start(entry), Buffers(entry))
        restrict_to_ranges(func, work, subgroups)


def _subgroups(func: FuncOp, most: int) -> int:
    """Return the sub-groups of a work-group: as the kernel states, else as many as its largest layout has."""
    if func.known_block_size is None:
        func.properties["known_block_size"] = DenseArrayBase.from_list(i32, [most * subgroup_size(), 1, 1])
        return most
    size = prod(func.known_block_size.get_values())
    if size % subgroup_size() or size < most * subgroup_size():
        wanted = f"known_block_size of whole sub-groups of {subgroup_size()}, at least {most}"
        raise refuse(wanted, func.known_block_size)
    return size // subgroup_size()


def _distribute(func: FuncOp, subgroups: int) -> None:
    layouts = insert_layout_conversions(func, subgroups)
    entry = func.body.blocks[0]
    work = Work(entry, subgroups, layouts, InsertPoint.at_start(entry), Buffers(entry))
    if any(shape_of(argument) is not None for argument in entry.args):
        raise refuse("a kernel without vectors as arguments", func.function_type)
    _distribute_block(entry, work)
    for op in reversed(work.dead):
        drop(op)


def _distribute_block(block: Block, work: Work) -> None:
    for op in list(block.ops):
        work.at = InsertPoint.before(op)
        with Rewriting(op):
            _distribute_op(op, work)


def _distribute_op(op: Operation, work: Work) -> None:
    control = _CONTROL.get(type(op))
    if control is not None:
        control.lower(op, work)
        return
    rule = rule_of(op)
    if rule is not None:
        rule.lower(op, work)
    elif op.name not in ("scf.yield", "scf.condition") and _concerns(op):
        raise refuse("an operation that is distributed", op.name)


def _concerns(op: Operation) -> bool:
    """True if an operation involves distributed values."""
    return bool(op.regions) or any(shape_of(value) is not None for value in (*op.operands, *op.results))


_CONTROL = ControlFlow(_distribute_block).rules()
