"""Converts kernels with one GPU thread per sub-group to the usual convention of one per work-item."""

from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, IndexType, IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.gpu.host import (
    launched_block,
    launches_in,
)
from codegen.xe.dialects.upstream.arith_ops import CmpiOp
from codegen.xe.dialects.upstream.memref_ops import AtomicRmwOp
from codegen.xe.locations import Rewriting
from codegen.xe.subgroup import subgroup_size

# Marks such kernels in files for Intel's vector compute runtime.
MARKER = "VectorComputeFunctionINTEL"

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class ExpandSubgroupThreadsPass(ModulePass):
    """Replaces thread ids by coordinates of the sub-group's id, x fastest; multiplies blocks by the sub-group size.

    Launches in the module give the block of kernels without one, and are changed to launch as many
    work-items.
    """

    name = "expand-subgroup-threads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        expand_subgroup_threads(op)


def counts_subgroups(kernel: gpu.FuncOp) -> bool:
    """True if a thread of this kernel is a sub-group."""
    return MARKER in kernel.attributes


def expand_subgroup_threads(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: neither a marked kernel nor its launches give the block, or launches differ.
    """
    for op in [op for op in module.walk() if isinstance(op, gpu.FuncOp) and counts_subgroups(op)]:
        with Rewriting(op):
            if op.known_block_size is None:
                _take_block(op, module)
            _expand(op)
            _expand_launches(op, module)


def _take_block(kernel: gpu.FuncOp, module: ModuleOp) -> None:
    try:
        block = launched_block(kernel.sym_name.data, launches_in(module))
    except VerifyException as error:
        raise PassFailedException(f"expand-subgroup-threads: {error}") from error
    if block is not None:
        kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, block)


def _expand_launches(kernel: gpu.FuncOp, module: ModuleOp) -> None:
    """Set the block of the launches to that of the kernel."""
    size = kernel.known_block_size
    for op in module.walk() if size is not None else ():
        if isinstance(op, gpu.LaunchFuncOp) and op.kernel_name == kernel.sym_name.data:
            assert size is not None
            builder, first = Builder(InsertPoint.before(op)), len(op.dependencies) + len(op.grid)
            for axis, extent in enumerate(size.get_values()):
                op.operands[first + axis] = _constant(builder, extent)


def _expand(kernel: gpu.FuncOp) -> None:
    queries = [op for op in kernel.walk() if isinstance(op, gpu.ThreadIdOp | gpu.BlockDimOp)]
    size = kernel.known_block_size
    if size is None:
        if queries:
            raise PassFailedException(
                f"expand-subgroup-threads: expected the block of kernel {kernel.sym_name.data}, whose threads are "
                "sub-groups, got none: give it known_block_size, or keep the gpu.launch_func that starts it"
            )
    else:
        block = cast(Extents, tuple(size.get_values()))
        for op in queries:
            with Rewriting(op):
                _replace(op, block)
        items = (prod(block) * subgroup_size(), 1, 1)
        kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, items)
    for op in [op for op in kernel.walk() if isinstance(op, AtomicRmwOp)]:
        with Rewriting(op):
            _update_once(op)
    del kernel.attributes[MARKER]


def _replace(op: gpu.ThreadIdOp | gpu.BlockDimOp, block: Extents) -> None:
    axis = list(gpu.Dimension).index(op.dimension.data)
    builder = Builder(InsertPoint.before(op))
    if isinstance(op, gpu.BlockDimOp):
        value = _constant(builder, block[axis])
    else:
        value = builder.insert(gpu.SubgroupIdOp()).result
        if axis > 0:
            value = builder.insert(arith.DivUIOp(value, _constant(builder, prod(block[:axis])))).result
        if axis < 2:
            value = builder.insert(arith.RemUIOp(value, _constant(builder, block[axis]))).result
    _replace_by(op, value)


def _update_once(op: AtomicRmwOp) -> None:
    """Let the first work-item of the sub-group make an atomic update, and all of them have its result."""
    builder, type_ = Builder(InsertPoint.before(op)), op.result.type
    first = builder.insert(CmpiOp(builder.insert(gpu.LaneIdOp()).result, _constant(builder, 0), "eq")).result
    update = op.clone()
    none = arith.ConstantOp(FloatAttr(0.0, type_) if isinstance(type_, AnyFloat) else IntegerAttr(0, type_))
    here, elsewhere = (Region(Block([made, scf.YieldOp(made)])) for made in (update, none))
    old = builder.insert(scf.IfOp(first, [type_], here, elsewhere)).results[0]
    zero, width = (builder.insert(arith.ConstantOp(IntegerAttr(n, i32))).result for n in (0, subgroup_size()))
    _replace_by(op, builder.insert(gpu.ShuffleOp(gpu.ShuffleMode.IDX, old, zero, width)).shuffle_result)


def _replace_by(op: Operation, value: SSAValue) -> None:
    value.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [value])


def _constant(builder: Builder, value: int) -> SSAValue:
    return builder.insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).result
