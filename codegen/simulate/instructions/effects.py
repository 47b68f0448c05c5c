"""Instructions that access memory or call functions."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.frame import Frame
from codegen.simulate.functions.atomics import (
    OPERATIONS,
    compare_exchange,
    read_modify_write,
)
from codegen.simulate.functions.builtins import call_builtin
from codegen.simulate.functions.call import Call
from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Type,
    address_offset,
)
from codegen.simulate.memory.address_space import Memory
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import Array

Effect = Callable[[Instruction, Frame, Memory], None]


def from_bytes(raw: Array, type_: Type) -> Array:
    """Return a value of a type from its bytes in memory, [..., bytes]."""
    values = raw.astype(np.bool_) if type_.element == "i1" else np.ascontiguousarray(raw).view(type_.dtype)
    return values if type_.count else values[..., 0]


def to_bytes(value: Array, type_: Type) -> Array:
    """Return the bytes of a value in memory, [..., bytes]."""
    elements = value if type_.count else value[..., None]
    return np.ascontiguousarray(elements).view(np.uint8)


def _check_type(i: Instruction, type_: Type) -> None:
    if type_.element == "ptr":
        raise SimulationRefused(i.text, "pointers in memory")
    if type_.parts or (type_.element == "i1" and type_.count):
        raise SimulationRefused(i.text, f"{type_} in memory is not built")


def _alloca(i: Instruction, frame: Frame, memory: Memory) -> None:
    frame.write(i, memory.allocate(i.result, i.pointee.nbytes, frame.at))


def _getelementptr(i: Instruction, frame: Frame, memory: Memory) -> None:
    pointer, *indices = (frame.read(o) for o in i.operands)
    frame.write(i, pointer + address_offset(i.pointee, [index.astype(np.int64) for index in indices]))


def _load(i: Instruction, frame: Frame, memory: Memory) -> None:
    _check_type(i, i.type)
    raw = memory.load(frame.read(i.operands[0]), i.type.nbytes, frame.at, i.text)
    frame.write(i, from_bytes(raw, i.type))


def _store(i: Instruction, frame: Frame, memory: Memory) -> None:
    value, pointer = (frame.read(o) for o in i.operands)
    type_ = i.operands[0].type
    _check_type(i, type_)
    memory.store(pointer, to_bytes(value, type_), frame.at, i.text)


def _atomicrmw(i: Instruction, frame: Frame, memory: Memory) -> None:
    pointer, value = (frame.read(o) for o in i.operands)
    update = OPERATIONS.get(i.detail)
    if update is None or i.type.count or i.type.element in ("ptr", "i1"):
        raise SimulationRefused(i.text, f"atomic {i.detail} of {i.type} is not known")
    place = memory.atomic(pointer, i.type.nbytes, frame.at, i.text)
    frame.write(i, read_modify_write(place, i.type, update, value))


def _cmpxchg(i: Instruction, frame: Frame, memory: Memory) -> None:
    pointer, expected, new = (frame.read(o) for o in i.operands)
    type_ = i.operands[1].type
    place = memory.atomic(pointer, type_.nbytes, frame.at, i.text)
    for part, value in enumerate(compare_exchange(place, type_, expected, new)):
        frame.write_local(_part(i.result, part), i.type.parts[part], value)


def _extractvalue(i: Instruction, frame: Frame, memory: Memory) -> None:
    frame.write(i, frame.read_local(_part(i.operands[0].local, int(i.detail))))


def _part(name: str, number: int) -> str:
    """Return the local that holds a part of a structure."""
    return f"{name}#{number}"


def _call(i: Instruction, frame: Frame, memory: Memory) -> None:
    operands = [frame.read(o) for o in i.operands]
    result = call_builtin(Call(i, operands, frame.at, memory))
    if result is not None:
        frame.write(i, result)


def _nothing(i: Instruction, frame: Frame, memory: Memory) -> None:
    """Do nothing: instructions of a launch execute in order, so a fence has no effect."""


EFFECTS: dict[str, Effect] = {
    "alloca": _alloca,
    "getelementptr": _getelementptr,
    "load": _load,
    "store": _store,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "extractvalue": _extractvalue,
    "call": _call,
    "fence": _nothing,
}
