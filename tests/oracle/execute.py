"""Execution of regions, operation by operation; code that waits at a barrier yields the event."""

from collections.abc import Callable, Generator, Sequence

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from tests.oracle.frame import (
    Event,
    Flow,
    Frame,
    name_of,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.registry import find_rule
from tests.oracle.values import (
    Value,
    Varying,
)

Values = tuple[Value, ...]
_MAX_TEXT = 200


def run_region(frame: Frame, region: Region, arguments: Sequence[Value]) -> Generator[Event, None, Values]:
    """Run a region from its first block and return its terminator's operands."""
    block, values = region.blocks[0], tuple(arguments)
    while True:
        frame.values.update(zip(block.args, values, strict=True))
        terminator = yield from _run_block(frame, block)
        if terminator is None:
            return ()
        branch = _BRANCHES.get(name_of(terminator))
        if branch is None:
            return tuple(frame.values[operand] for operand in terminator.operands)
        block, operands = branch(frame, terminator)
        values = tuple(frame.values[operand] for operand in operands)


def _run_block(frame: Frame, block: Block) -> Generator[Event, None, Operation | None]:
    """Run a block and return its terminator, which is not run."""
    for op in block.ops:
        if name_of(op) in _TERMINATORS or op.successors:
            return op
        flow = _start(frame, op)
        if flow is not None:
            yield from flow
    return None


def _start(frame: Frame, op: Operation) -> Flow:
    """Run an operation, or start it if it has regions."""
    found = find_rule(name_of(op))
    if found is None:
        raise InterpretationRefused(text_of(op), f"expected an operation that is known, got {name_of(op)}")
    if _varies(frame, op):
        frame.values.update((result, Varying.VALUE) for result in op.results)
        return None
    try:
        return found(frame, op)
    except (KernelFault, InterpretationRefused) as error:
        raise error.at(text_of(op)) from None


def _varies(frame: Frame, op: Operation) -> bool:
    """Return whether an arithmetic operation depends on a number that differs between sub-groups."""
    if not op.results or op.regions or not name_of(op).startswith("arith."):
        return False
    return any(frame.values.get(operand) is Varying.VALUE for operand in op.operands)


def text_of(op: Operation) -> str:
    """Return the first line of an operation's text."""
    line = str(op).split("\n", 1)[0]
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}..."


def _jump(frame: Frame, op: Operation) -> tuple[Block, Sequence[SSAValue]]:
    return op.successors[0], op.operands


def _jump_if(frame: Frame, op: Operation) -> tuple[Block, Sequence[SSAValue]]:
    condition, *operands = op.operands
    yes, no = op.successors
    taken = bool(frame.get(condition, np.ndarray))
    return (yes, operands[: len(yes.args)]) if taken else (no, operands[len(yes.args) :])


_BRANCHES: dict[str, Callable[[Frame, Operation], tuple[Block, Sequence[SSAValue]]]] = {
    "cf.br": _jump,
    "cf.cond_br": _jump_if,
}
_TERMINATORS = {
    "scf.yield",
    "scf.condition",
    "scf.reduce",
    "scf.reduce.return",
    "func.return",
    "gpu.return",
    "memref.alloca_scope.return",
}
