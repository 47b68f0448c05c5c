"""Registers and memory that threads find when they start, as Intel's driver and hardware give them.

r0 holds the work-group's place (elements 1, 6 and 7), the thread's number in its group (low byte of element 2) with
the number of threads (high byte), and the address of the heap (element 0). The heap holds what of the payload of all
threads did not come in r1, then a payload of each thread of a work-group.

Source: Intel compute-runtime, shared/source/kernel ("implicit arguments", "local ids") and the open compiler IGC;
Programmer's Reference Manual, volume "GPGPU walker": thread payload.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import Extents, SubGroups
from codegen.simulate.values import Array
from codegen.xe.machine.execute.memory import address_of, handle_of
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.refusal import NotRepresented
from codegen.xe.machine.zebin import Argument, KernelInfo

_HEAP_UNIT = 32  # payloads in memory take whole blocks of these bytes
_PAST_END = 1024  # bytes that loads of a payload may read after it
_DIMENSIONS = ("x", "y", "z")

Value = Array | int | float


@dataclass(frozen=True, slots=True)
class Launch:
    """Arguments by index, work-groups and work-items of one."""

    arguments: Sequence[Value]
    groups: Extents
    local_size: Extents


@dataclass(frozen=True, slots=True)
class Payload:
    """Arguments of a launch as the driver passes them: the part of r1, the heap, and the buffers by number."""

    inline: bytes
    heap: Array
    buffers: tuple[Array, ...]


def payload_of(kernel: KernelInfo, launch: Launch, constants: bytes, grf_bytes: int) -> Payload:
    """Build the payload of a launch. `constants` are the module's constant data.

    Raises:
        SimulationRefused: arguments that the kernel does not take.
        NotRepresented: a value that the driver gives and is not known.
    """
    buffers, numbers = _buffers(launch.arguments)
    if constants:
        content = np.frombuffer(constants, np.uint8)
        buffers.append(content)
        numbers = {**numbers, -1: len(buffers) - 1}
    end = max((a.offset + a.nbytes for a in kernel.cross_thread), default=0)
    cross = bytearray(end)
    for argument in kernel.cross_thread:
        cross[argument.offset : argument.offset + argument.nbytes] = _value(kernel, argument, launch, numbers)
    inline, rest = bytes(cross[: kernel.inline_bytes]), bytes(cross[kernel.inline_bytes :])
    rest = rest.ljust(-(-len(rest) // _HEAP_UNIT) * _HEAP_UNIT, b"\0")
    threads = prod(launch.local_size) // kernel.simd_size
    heap = rest + b"".join(_local_ids(kernel, launch.local_size, t, grf_bytes) for t in range(threads))
    return Payload(inline, np.frombuffer(heap + bytes(_PAST_END), np.uint8), tuple(buffers))


def start(threads: Threads, payload: Payload, at: SubGroups) -> None:
    """Write r0 and r1 of each thread."""
    r0, r1 = threads.view(np.dtype("u4"))[:2]
    r0[...] = 0
    for element, axis in zip((1, 6, 7), at.group_id, strict=True):
        r0[:, element] = axis
    r0[:, 2] = at.subgroup_id | at.subgroups_per_team << 24
    content = np.frombuffer(payload.inline, np.uint8)
    r1.view(np.uint8)[:, : len(content)] = content


def _buffers(arguments: Sequence[Value]) -> tuple[list[Array], dict[int, int]]:
    """Return the memory of arguments as bytes, once each, and its number by argument."""
    buffers: list[Array] = []
    known: dict[tuple[int, int, bool], int] = {}
    numbers: dict[int, int] = {}
    for index, value in enumerate(arguments):
        if not isinstance(value, np.ndarray) or not value.ndim:
            continue
        if not value.flags.c_contiguous or value.dtype.hasobject:
            raise SimulationRefused(f"argument {index}", f"expected a contiguous array of numbers, got {value.dtype}")
        content = value.reshape(-1).view(np.uint8)
        key = (content.__array_interface__["data"][0], content.size, content.flags.writeable)
        if not content.size or key not in known:
            buffers.append(content)
            known[key] = len(buffers) - 1
        numbers[index] = known[key]
    return buffers, numbers


def _value(kernel: KernelInfo, a: Argument, launch: Launch, numbers: Mapping[int, int]) -> bytes:
    where = f"{kernel.name}: {a.kind} {'' if a.index is None else a.index}".strip()
    match a.kind:
        case "arg_bypointer":
            assert a.index is not None
            if a.address_space == "local":
                raise NotRepresented(where, "shared memory as an argument")
            if a.index not in numbers:
                raise SimulationRefused(where, "expected an array for a pointer")
            number = numbers[a.index]
            address = address_of(number) if a.address_mode == "stateless" else handle_of(number)
            return address.to_bytes(a.nbytes, "little")
        case "const_base" if -1 in numbers:
            return address_of(numbers[-1]).to_bytes(a.nbytes, "little")
        case "arg_byvalue":
            assert a.index is not None
            if a.index in numbers and a.nbytes == 8:  # its address
                return address_of(numbers[a.index]).to_bytes(a.nbytes, "little")
            return _number(where, a, launch.arguments[a.index])
        case "buffer_offset":
            return bytes(a.nbytes)
        case "global_id_offset":
            return bytes(a.nbytes)
        case "local_size" | "enqueued_local_size":
            return struct.pack("<3I", *launch.local_size)[: a.nbytes]
        case "group_count":
            return struct.pack("<3I", *launch.groups)[: a.nbytes]
        case _:
            raise NotRepresented(where, "a value of the driver that is not represented")


def _number(where: str, a: Argument, value: Value) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim:
        raise SimulationRefused(where, f"expected a number, got an array of {value.dtype}")
    if isinstance(value, np.generic | np.ndarray) and value.dtype.itemsize == a.nbytes:
        return value.tobytes()
    number = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(number, int):
        return (number & ((1 << 8 * a.nbytes) - 1)).to_bytes(a.nbytes, "little")
    return struct.pack({2: "<e", 4: "<f", 8: "<d"}[a.nbytes], number)


def _local_ids(kernel: KernelInfo, size: Extents, thread: int, grf_bytes: int) -> bytes:
    """Return the payload of a thread: local ids of its work-items in 16 bits, each dimension from a register on."""
    if not kernel.per_thread:
        return b""
    (ids,) = kernel.per_thread
    if ids.kind != "local_id" or ids.offset:
        raise NotRepresented(kernel.name, f"a payload of each thread that is not represented: {ids.kind}")
    linear = thread * kernel.simd_size + np.arange(kernel.simd_size)
    each = -(-kernel.simd_size * 2 // grf_bytes) * grf_bytes
    axes = (linear % size[0], linear // size[0] % size[1], linear // (size[0] * size[1]))
    whole = b"".join(axis.astype(np.uint16).tobytes().ljust(each, b"\0") for axis in axes)
    return whole[: ids.nbytes]
