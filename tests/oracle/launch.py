"""Launch of a kernel of a module: its arguments, work-groups and sub-groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from codegen.errors import InvalidLaunch
from codegen.xe.dialects import gpu
from codegen.xe.passes.expand_subgroup_threads import counts_subgroups
from codegen.xe.subgroup import subgroup_size
from tests.oracle.allocate import allocate
from tests.oracle.arguments import (
    Argument,
    bind,
)
from tests.oracle.execute import run_region
from tests.oracle.frame import (
    Extents,
    Frame,
    WorkGroup,
    attribute,
)
from tests.oracle.level import (
    is_alike,
    is_whole,
)
from tests.oracle.memory import Memory
from tests.oracle.schedule import (
    Running,
    run_together,
)
from tests.oracle.values import Value
from tests.oracle.work_items import is_of_work_items


@dataclass(frozen=True, slots=True)
class _Shape:
    """Shape of an execution: the block, the sub-groups of a work-group, the number of sub-groups or work-items run."""

    block: Extents
    subgroups: int
    executed: int
    counts_subgroups: bool
    whole: bool
    of_work_items: bool


def interpret(
    module: ModuleOp, kernel: str, grid: Extents, args: Sequence[Argument], block: Extents | None = None
) -> None:
    """Execute a kernel on numpy arrays, which change in place, integers and floats.

    `grid` counts work-groups, `block` work-items (sub-groups, if the kernel counts these), each in x, y and z; a
    kernel may say its block itself. bf16 is held as its bits in uint16. An array for an i64 is its address.

    Raises:
        InvalidLaunch: no such kernel, or arguments that it does not take.
        InterpretationRefused: an operation that the interpreter does not support.
        KernelFault: the kernel's behaviour is undefined.
    """
    function = _kernel(module, kernel)
    inputs = function.body.blocks[0].args[: len(function.function_type.inputs)]
    if len(args) != len(inputs):
        raise InvalidLaunch(f"{kernel}: expected {len(inputs)} arguments, got {len(args)}")
    if min(grid) < 1:
        raise InvalidLaunch(f"{kernel}: expected a grid of at least 1 in each dimension, got {grid}")
    symbols = {s.data: op for op in module.walk() if isinstance(s := attribute(op, "sym_name"), StringAttr)}
    shape = _shape(function, _reached(function, symbols), _block(function, block))
    memory = Memory()
    with np.errstate(all="ignore"):
        values = [bind(memory, argument, given) for argument, given in zip(inputs, args, strict=True)]
        for group in _groups(memory, symbols, grid, shape):
            run_together(group, [_start(function, _frame(group, shape, s), values) for s in range(shape.executed)])
            memory.drop_local()


def _kernel(module: ModuleOp, name: str) -> gpu.FuncOp:
    functions = [op for op in module.walk() if isinstance(op, gpu.FuncOp)]
    for function in functions:
        if function.sym_name.data == name:
            return function
    raise InvalidLaunch(f"expected a kernel of {', '.join(f.sym_name.data for f in functions)}, got {name}")


def _block(function: gpu.FuncOp, given: Extents | None) -> Extents | None:
    """Return the block that the kernel states or the caller gives; both must agree."""
    known = function.known_block_size
    if known is None:
        return given
    x, y, z = known.get_values()
    if given not in (None, (x, y, z)):
        raise InvalidLaunch(f"{function.sym_name.data}: expected the block {(x, y, z)} that it says, got {given}")
    return x, y, z


def _shape(function: gpu.FuncOp, operations: Sequence[Operation], block: Extents | None) -> _Shape:
    counts, whole = counts_subgroups(function), is_whole(operations)
    items = not whole and is_of_work_items(operations)
    once = whole or (is_alike(operations) and not items)
    if block is None:
        if not once:
            raise InvalidLaunch(
                f"{function.sym_name.data}: expected a block, as its sub-groups differ and it does not say how many"
            )
        block = (1, 1, 1) if counts else (subgroup_size(), 1, 1)
    threads = prod(block)
    subgroups = threads if counts else -(-threads // subgroup_size())
    executed = 1 if once else subgroups * (subgroup_size() if items else 1)
    return _Shape(block, subgroups, executed, counts, whole, items)


def _groups(memory: Memory, symbols: dict[str, Operation], grid: Extents, shape: _Shape) -> Iterator[WorkGroup]:
    """Yield the work-groups, x fastest."""
    for z, y, x in np.ndindex(grid[::-1]):
        yield WorkGroup(
            memory, symbols, grid, shape.block, (x, y, z), shape.subgroups, shape.counts_subgroups, shape.whole
        )


def _frame(group: WorkGroup, shape: _Shape, number: int) -> Frame:
    """Return the frame in which a sub-group, or a work-item, starts."""
    if not shape.of_work_items:
        return Frame(group, number)
    return Frame(group, number // subgroup_size(), lane=number % subgroup_size())


def _start(function: gpu.FuncOp, frame: Frame, arguments: Sequence[Value]) -> Running:
    """Start the code of one sub-group or work-item, with the buffers that the function declares."""
    values = list(arguments)
    for buffer in function.body.blocks[0].args[len(arguments) :]:
        assert isinstance(buffer.type, MemRefType)  # gpu.func's verifier
        values.append(allocate(frame, buffer, buffer.type, buffer.type.get_shape()))
    return run_region(frame, function.body, values)


def _reached(function: Operation, symbols: dict[str, Operation]) -> list[Operation]:
    """Return the operations of a kernel and of the functions that it calls."""
    found: dict[Operation, None] = {}
    todo = [function]
    while todo:
        for op in todo.pop().walk():
            callee = attribute(op, "callee")
            if op not in found and isinstance(callee, SymbolRefAttr) and callee.string_value() in symbols:
                todo.append(symbols[callee.string_value()])
            found[op] = None
    return list(found)
