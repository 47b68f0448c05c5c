"""Lowers sub-group-level XeGPU to code for 16 lanes: per-lane vectors, block messages, shuffles."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.kernel_attributes import ACCESSES_INSIDE, ARGUMENTS_APART, WORK_ITEMS
from codegen.xe.layout import BlockLimits
from codegen.xe.locations import Rewriting
from codegen.xe.passes.lanes.analysis.affine_values import Sums
from codegen.xe.passes.lanes.analysis.assumptions import note_assumptions, of_extents
from codegen.xe.passes.lanes.analysis.late_loads import load_late
from codegen.xe.passes.lanes.analysis.order_by_stores import order_by_stores
from codegen.xe.passes.lanes.analysis.preferences import preferences
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.memory import (
    atomics,
    blocks,
    buffers,
    fences,
    matrices,
    named_barriers,
    scattered,
    surfaces,
    vector_access,
)
from codegen.xe.passes.lanes.memory.local_memory import LocalMemory
from codegen.xe.passes.lanes.values import lane_element, lane_memory_type
from codegen.xe.passes.lanes.vectors import (
    constants,
    contraction,
    control_flow,
    dpas,
    elementwise,
    reductions,
    shuffle_ops,
)
from codegen.xe.passes.lanes.vectors.slices import take_elements_of_slices
from codegen.xe.passes.lanes.vectors.transpose_dpas import turn_products
from codegen.xe.subgroup import subgroup_size

_LIMITS = BlockLimits()
_NARROW = 8
_GROUPS = (
    elementwise,
    constants,
    shuffle_ops,
    reductions,
    contraction,
    control_flow,
    surfaces,
    blocks,
    scattered,
    atomics,
    buffers,
    matrices,
    named_barriers,
    fences,
    vector_access,
    dpas,
)
_HANDLERS: Mapping[str, Handler] = {name: handler for group in _GROUPS for name, handler in group.HANDLERS.items()}


@dataclass(frozen=True)
class LowerToLanesPass(ModulePass):
    """Lowers kernels with sub-groups of 16; no vectors of more than one dimension remain.

    `max_rows` and `max_width_bytes` are those of one 2-D block message.
    """

    name = "lower-to-lanes"
    max_rows: int = 32
    max_width_bytes: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_to_lanes(op, BlockLimits(self.max_rows, self.max_width_bytes))


def lower_to_lanes(module: ModuleOp, limits: BlockLimits = _LIMITS, *, marked: bool = False) -> None:
    """Apply the pass; `limits` are those of the device, or the common ones of all devices with block messages.

    `marked` inserts calls that mark the places of operations.

    Raises:
        PassFailedException: an operation has no per-lane form.
    """
    for op in module.body.ops:
        if isinstance(op, gpu.ModuleOp):
            for function in list(op.body.block.ops):
                if isinstance(function, gpu.FuncOp):
                    with Rewriting(function):
                        _lower_function(op, function, limits, marked=marked)


def _lower_function(module: gpu.ModuleOp, function: gpu.FuncOp, limits: BlockLimits, *, marked: bool) -> None:
    old, extents = function.body.block, of_extents(function)
    _check_arguments(old)
    work_items = WORK_ITEMS in function.attributes
    if limits.has_dpas and not work_items:
        turn_products(old)
    count = len(function.function_type.inputs)
    types = [_argument_type(t) for t in old.arg_types[:count]]
    new = Block(arg_types=types)
    memory = LocalMemory(f"{function.sym_name.data}_local")
    lowering = Lowering(
        Emitter(new),
        _HANDLERS,
        {} if work_items else preferences(old, has_dpas=limits.has_dpas),
        memory,
        _subgroups(function),
        work_items,
        ACCESSES_INSIDE in function.attributes,
        limits,
        Sums(old, new),
        marked,
    )
    for before, after in zip(old.args, new.args, strict=False):
        lowering.define(before, after)
    for buffer in function.workgroup_buffers:
        memory.declare(lowering.emitter, buffer)
    lowering.lower(old)
    lowering.emitter.drop_unused()
    if subgroup_size() == _NARROW:
        load_late(new)
    order_by_stores(new, lowering, apart=ARGUMENTS_APART in function.attributes)
    named_barriers.take_due(lowering, new)
    lowering.emitter.finish()
    take_elements_of_slices(new)
    function.detach_region(function.body)
    function.add_region(Region(new))
    function.properties["function_type"] = FunctionType.from_lists(types, list(function.function_type.outputs))
    function.properties.pop("workgroup_attributions", None)
    note_assumptions(function, lowering.assumed | extents)
    _declare(module, lowering)


def _check_arguments(body: Block) -> None:
    for argument in body.args:
        if argument.uses and (isinstance(argument.type, VectorType) or argument.type.name.startswith("xegpu.")):
            name = argument.name_hint or f"arg{argument.index}"
            raise PassFailedException(
                f"lower-to-lanes: expected memrefs and scalars as arguments, got {argument.type} as {name}"
            )


def _argument_type(type_: Attribute) -> Attribute:
    if isinstance(type_, MemRefType):
        return lane_memory_type(type_)
    return lane_element(type_)


def _subgroups(function: gpu.FuncOp) -> int | None:
    size = function.known_block_size
    if size is None:
        return None
    x, y, z = size.get_values()
    return x * y * z // subgroup_size()


def _declare(module: gpu.ModuleOp, lowering: Lowering) -> None:
    first = module.body.block.first_op
    known = {o.properties["sym_name"] for o in module.body.block.ops if "sym_name" in o.properties}
    declarations = [lowering.memory.declaration(), *lowering.emitter.functions.values()]
    new = [d for d in declarations if d is not None and d.properties["sym_name"] not in known]
    if first is None:
        return
    module.body.block.insert_ops_before(new, first)
