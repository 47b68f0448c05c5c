"""Runs a kernel for some sub-groups in lock step.

Each sub-group has its own place in the program. The block that comes first in program order among those places runs
next, for the sub-groups that are there: after a branch that parts them they meet again where their paths join.
"""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from codegen.simulate.builtins import call_builtin
from codegen.simulate.call import Call
from codegen.simulate.ir import Block, Function, Instruction, Operand
from codegen.simulate.memory import Memory
from codegen.simulate.ops import PURE
from codegen.simulate.refusal import SimulationRefused, SimulationTimedOut
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array, constant, undefined

# A kernel that runs more blocks than this for one sub-group is taken to be in an endless loop.
MAX_BLOCKS = 1_000_000


class Machine:
    """The state of one run. `instructions` counts those executed, each once for all sub-groups that ran it."""

    def __init__(
        self, function: Function, buffers: Sequence[Array], subgroups: SubGroups, deadline_s: float = math.inf
    ) -> None:
        self.instructions = 0
        self._deadline_s = deadline_s
        self._function = function
        self._subgroups = subgroups
        self._memory = Memory(buffers, len(subgroups))
        self._values = {p.local: self._memory.buffer_pointer(i) for i, p in enumerate(function.parameters)}
        self._constants: dict[int, Array] = {}
        self._index = {block.label: i for i, block in enumerate(function.blocks)}
        self._place = np.zeros(len(subgroups), np.int64)
        self._came_from = np.full(len(subgroups), -1, np.int64)
        self._active: Array | None = None
        self._active_subgroups = subgroups

    def run(self) -> None:
        """Run to the end of the kernel.

        Raises:
            SimulationRefused: something that cannot be represented.
            SimulationTimedOut: the monotonic clock passed `deadline_s`.
        """
        end = len(self._function.blocks)
        with np.errstate(all="ignore"):
            for _ in range(MAX_BLOCKS):
                place = int(self._place.min())
                if place == end:
                    return
                if time.monotonic() > self._deadline_s:
                    raise SimulationTimedOut
                self._activate(self._place == place)
                self._run_block(self._function.blocks[place])
        raise SimulationRefused("", f"{MAX_BLOCKS} blocks were run without an end: an endless loop")

    def _activate(self, here: Array) -> None:
        self._active = None if here.all() else np.flatnonzero(here)
        self._active_subgroups = self._subgroups.take(self._active)

    def _run_block(self, block: Block) -> None:
        self.instructions += len(block.phis) + len(block.body)
        if block.phis:
            # All phis read before any is written: they may name each other.
            for phi, value in [(phi, self._phi(phi)) for phi in block.phis]:
                self._write(phi, value)
        for instruction in block.body[:-1]:
            self._execute(instruction)
        self._leave(block, block.body[-1])

    def _execute(self, i: Instruction) -> None:
        if (effect := _EFFECTS.get(i.opcode)) is not None:
            effect(self, i)
        elif (rule := PURE.get(i.opcode)) is not None:
            self._write(i, rule(i, [self._read(o) for o in i.operands]))
        else:
            raise SimulationRefused(i.text, f"instruction {i.opcode} is not known here")

    def _phi(self, phi: Instruction) -> Array:
        if phi.type.element == "ptr" and phi.type.space == 0:
            raise SimulationRefused(phi.text, "a choice between private arrays")
        came_from = self._came_from if self._active is None else self._came_from[self._active]
        by_block = {self._index.get(label, -2): value for label, value in zip(phi.labels, phi.operands, strict=True)}
        first = int(came_from[0])
        if (came_from == first).all():
            return self._read(by_block[first])
        lanes = max(self._read(value).shape[1] for value in by_block.values())
        out = undefined(phi.type, (len(came_from), lanes))
        for place in np.unique(came_from):
            chosen = came_from == place
            out[chosen] = np.broadcast_to(self._read(by_block[int(place)]), out.shape)[chosen]
        return out

    def _leave(self, block: Block, i: Instruction) -> None:
        count = len(self._active_subgroups)
        if i.opcode == "ret":
            target = np.full(count, len(self._function.blocks))
        else:
            places = np.array([self._index[label] for label in i.labels])
            target = np.broadcast_to(places[self._choice(i)], count)
        everyone = slice(None) if self._active is None else self._active
        self._came_from[everyone] = self._index[block.label]
        self._place[everyone] = target

    def _choice(self, i: Instruction) -> Array:
        """Index into the labels for each active sub-group, or for all of them."""
        if not i.operands:
            return np.zeros(1, np.int64)
        value = self._read(i.operands[0])
        if value.shape[1] > 1 and (value != value[:, :1]).any():
            raise SimulationRefused(i.text, "the lanes of a sub-group part ways")
        value = value[:, 0]
        if i.opcode == "br":
            return np.where(value, 0, 1)
        choice = np.zeros(value.shape, np.int64)
        for index, case in enumerate(i.operands[1:], start=1):
            choice[value == constant(case).flat[0]] = index
        return choice

    def _alloca(self, i: Instruction) -> None:
        self._write(i, self._memory.allocate(i.result, i.pointee.nbytes, self._active))

    def _getelementptr(self, i: Instruction) -> None:
        pointer, *indices = (self._read(o) for o in i.operands)
        steps = [i.pointee.nbytes, i.pointee.scalar.nbytes][: len(indices)]
        if len(steps) != len(indices):
            raise SimulationRefused(i.text, "more than two indices")
        for index, step in zip(indices, steps, strict=True):
            pointer = pointer + index.astype(np.int64) * step
        self._write(i, pointer)

    def _load(self, i: Instruction) -> None:
        if i.type.element == "ptr":
            raise SimulationRefused(i.text, "pointers in memory")
        raw = self._memory.load(self._read(i.operands[0]), i.type.nbytes, self._active, i.text)
        values = raw.astype(np.bool_) if i.type.element == "i1" else raw.view(i.type.dtype)
        self._write(i, values if i.type.count else values[..., 0])

    def _store(self, i: Instruction) -> None:
        value, pointer = (self._read(o) for o in i.operands)
        type_ = i.operands[0].type
        if type_.element == "ptr":
            raise SimulationRefused(i.text, "pointers in memory")
        elements = value if type_.count else value[..., None]
        raw = np.ascontiguousarray(elements).view(np.uint8)
        self._memory.store(pointer, raw, self._active, i.text)

    def _call(self, i: Instruction) -> None:
        operands = [self._read(o) for o in i.operands]
        result = call_builtin(Call(i, operands, self._active_subgroups, self._memory, self._active))
        if result is not None:
            self._write(i, result)

    def _read(self, operand: Operand) -> Array:
        if operand.is_constant:
            value = self._constants.get(id(operand))
            if value is None:
                value = self._constants[id(operand)] = constant(operand)
            return value
        value = self._values.get(operand.local)
        if value is None:
            raise SimulationRefused(f"%{operand.local}", "a value is used where it is not defined")
        return value if self._active is None or value.shape[0] == 1 else value[self._active]

    def _write(self, i: Instruction, value: Array) -> None:
        if self._active is None:
            self._values[i.result] = value
            return
        # Only some sub-groups are here: the others keep what they have.
        old = self._values.get(i.result, undefined(i.type, (1, 1)))
        lanes = max(old.shape[1], value.shape[1])
        full = np.broadcast_to(old, (len(self._subgroups), lanes, *old.shape[2:])).copy()
        full[self._active] = value
        self._values[i.result] = full


_EFFECTS: dict[str, Callable[[Machine, Instruction], None]] = {
    "alloca": Machine._alloca,  # pyright: ignore[reportPrivateUsage]
    "getelementptr": Machine._getelementptr,  # pyright: ignore[reportPrivateUsage]
    "load": Machine._load,  # pyright: ignore[reportPrivateUsage]
    "store": Machine._store,  # pyright: ignore[reportPrivateUsage]
    "call": Machine._call,  # pyright: ignore[reportPrivateUsage]
}
