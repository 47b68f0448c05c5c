"""Branches: those of whole threads, and those that park channels until a join."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.values import Array
from codegen.xe.machine.execute.alu import predicate_of
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.opcodes import BRANCH_CONTROL
from codegen.xe.machine.refusal import NotRepresented

Next = int | Array | None
Branch = Callable[[], Next]


def branch_step(i: Instruction, number: int, threads: Threads) -> Branch:
    """Return a function that executes a branch: it gives the next instruction, one or of each thread, None for the
    following.

    Raises:
        NotRepresented: it is not represented.
    """
    match i.opcode:
        case "jmpi":
            return _jump(i, number, threads)
        case "goto" if i.function == BRANCH_CONTROL:
            return _loop(i, number, threads)
        case "goto" if i.targets[0] > number and i.targets[1] > number:
            return _goto(i, number, threads)
        case "join":
            return _join(i, number, threads)
        case _:
            raise NotRepresented(i.text, f"branch {i.opcode} is not represented")


def _jump(i: Instruction, number: int, threads: Threads) -> Branch:
    predicate, (target,) = predicate_of(i, threads), i.targets
    if predicate is None:
        return lambda: target

    def jump() -> Next:
        taken = predicate()[:, 0]
        if threads.live is not None:
            among = taken[threads.live]
            if among.all():
                return target
            if not among.any():
                return None
        elif taken.all():
            return target
        elif not taken.any():
            return None
        return np.where(taken, target, number + 1)

    return jump


def _active(threads: Threads) -> Array:
    active = threads.parked < 0
    return active if threads.live is None else active & threads.live[:, None]


def _goto(i: Instruction, number: int, threads: Threads) -> Branch:
    """Park the channels of the predicate at UIP; threads that have no others go on at JIP."""
    predicate, (jip, uip), size = predicate_of(i, threads), i.targets, i.size

    def go() -> Next:
        chosen = _active(threads)
        if predicate is not None:
            chosen[:, :size] &= predicate()
        threads.parked[chosen] = uip
        enabled = threads.note_parked()
        return None if enabled is None else np.where(enabled.any(axis=1), number + 1, jip)

    return go


def _loop(i: Instruction, number: int, threads: Threads) -> Branch:
    """Take the channels of the predicate back to UIP; the others wait at JIP, which must follow.

    Source: IGC's virtual ISA, GOTO: a jump back goes to the label if any active channel is predicated, the other active
    channels wait for the next instruction. IGC writes `.b` where the label came before (FlowGraph.cpp, setBackward;
    BinaryEncodingIGA.cpp, getIGABranchCntrl).
    """
    predicate, (jip, uip), size = predicate_of(i, threads), i.targets, i.size
    if predicate is None or jip != number + 1 or uip > number:
        raise NotRepresented(i.text, "goto.b that ends no loop")

    def go() -> Next:
        active = _active(threads)
        taken = active.copy()
        taken[:, :size] &= predicate()
        threads.parked[active & ~taken] = jip
        threads.note_parked()
        return np.where(taken.any(axis=1), uip, jip)

    return go


def _join(i: Instruction, number: int, threads: Threads) -> Branch:
    """Wake the channels that are parked here; threads without active ones go on at JIP."""
    (jip,) = i.targets

    def join() -> Next:
        if threads.enabled is None:
            return None
        here = threads.parked == number
        if threads.live is not None:
            here &= threads.live[:, None]
        threads.parked[here] = -1
        enabled = threads.note_parked()
        return None if enabled is None else np.where(enabled.any(axis=1), number + 1, jip)

    return join
