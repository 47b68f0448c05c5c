"""Loads, stores and atomic operations at an address of each channel, or of blocks of one channel; scratch memory.

Component c of a vector is in the registers after those of component c - 1, one element for each channel. Transposed,
the elements of one channel are consecutive in registers.

Source: Intel Graphics Programmer's Reference Manual (Xe HPG, Xe2), volume "Shared functions": payloads A32, A64, D32,
D64 and the transposed ones.
"""

from collections.abc import Callable

import numpy as np

from codegen.simulate.functions.atomics import OPERATIONS, compare_exchange, read_modify_write
from codegen.simulate.llvm_ir.ir import Type
from codegen.simulate.memory.address_space import Place, check_writeable
from codegen.simulate.memory.gather import gather, scatter
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import Array
from codegen.xe.machine.execute.alu import predicated
from codegen.xe.machine.execute.memory import Memory, surface_addresses
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.instruction import Instruction, Payload
from codegen.xe.machine.messages import (
    Access,
    AddressModel,
    MemoryMessage,
    OwordMessage,
    ScratchMessage,
    SharedFunction,
)
from codegen.xe.machine.operands import RegisterFile
from codegen.xe.machine.refusal import NotRepresented

_HEAP = 255  # the binding table's entry for memory at addresses of 32 bits
_SCRATCH_BLOCK, _OWORD = 32, 16
_ROUNDED_VECTOR = 8  # messages have 1, 2, 3, 4, 8, 16, 32 or 64 elements
_NO_NULL = 0x10000000
"""A bit that the compiler sets in addresses of shared memory, so that none is 0; hardware ignores it.

Source: intel-graphics-compiler, InlineLocalsResolution, VALID_LOCAL_HIGH_BITS.
"""
_UPDATES = {
    Access.ADD: "add",
    Access.SUBTRACT: "sub",
    Access.SIGNED_MIN: "min",
    Access.SIGNED_MAX: "max",
    Access.UNSIGNED_MIN: "umin",
    Access.UNSIGNED_MAX: "umax",
    Access.FLOAT_ADD: "fadd",
    Access.FLOAT_SUBTRACT: "fsub",
    Access.FLOAT_MIN: "fmin",
    Access.FLOAT_MAX: "fmax",
    Access.AND: "and",
    Access.OR: "or",
    Access.XOR: "xor",
    Access.ATOMIC_STORE: "xchg",
}
_FLOATS = {16: "half", 32: "float", 64: "double"}


def scattered_step(i: Instruction, m: MemoryMessage, threads: Threads, memory: Memory) -> Callable[[], None]:
    """Return a function that executes an access for the channels that are live.

    Raises:
        NotRepresented: a form that is not represented.
    """
    access = _Accesses(i, m, threads, memory)
    if m.access is Access.LOAD:
        return access.load
    if m.access is Access.STORE:
        return access.store
    return access.atomic


def scratch_step(i: Instruction, m: ScratchMessage, threads: Threads, memory: Memory) -> Callable[[], None]:
    """Return a function that moves a block between registers and scratch memory."""
    assert i.payload is not None
    register = (i.payload.data if m.write else i.payload.destination).number
    count = -(-m.blocks * _SCRATCH_BLOCK // threads.grf_bytes)
    start, nbytes = m.offset * _SCRATCH_BLOCK, m.blocks * _SCRATCH_BLOCK
    _check_scratch(memory, start, nbytes, i.text)

    def execute() -> None:
        rows = threads.rows()
        if m.write:
            given = threads.registers[register : register + count, rows].transpose(1, 0, 2).reshape(len(rows), -1)
            memory.scratch[rows, start : start + nbytes] = given[:, :nbytes]
            return
        values = memory.scratch[rows, start : start + nbytes]
        _to_registers(threads, register, rows, values)

    return execute


def oword_step(i: Instruction, m: OwordMessage, threads: Threads, memory: Memory) -> Callable[[], None]:
    """Return a function that loads consecutive bytes of the driver's heap."""
    assert i.payload is not None
    header, register = threads.view(np.dtype("u4"))[i.payload.address.number], i.payload.destination.number

    def execute() -> None:
        rows = threads.rows()
        offsets = header[rows, 2].astype(np.int64)
        _to_registers(threads, register, rows, _of_heap(memory, offsets, m.owords * _OWORD, i.text))

    return execute


def _to_registers(threads: Threads, register: int, rows: Array, values: Array) -> None:
    """Write consecutive bytes of each thread to registers."""
    for number, start in enumerate(range(0, values.shape[1], threads.grf_bytes)):
        part = values[:, start : start + threads.grf_bytes]
        threads.registers[register + number, rows, : part.shape[1]] = part


def _of_heap(memory: Memory, offsets: Array, nbytes: int, where: str) -> Array:
    if int(offsets.max()) + nbytes > memory.heap.size:
        raise SimulationRefused(where, f"reads byte {int(offsets.max())} of payloads of {memory.heap.size} bytes")
    return gather(memory.heap, None, offsets, nbytes)


def _check_scratch(memory: Memory, start: int, nbytes: int, where: str) -> None:
    size = memory.scratch.shape[1]
    if start < 0 or start + nbytes > size:
        raise SimulationRefused(where, f"touches bytes {start} to {start + nbytes} of {size} of scratch memory")


def _registers_of_data(payload: Payload, grf_count: int) -> Array | None:
    """Return the numbers of the registers of data in order, None without any."""
    if payload.data.file is RegisterFile.NULL:
        return None
    listed = payload.gathered[payload.address_count :]
    return np.array(listed) if listed else np.arange(payload.data.number, grf_count)


class _Accesses:
    """Accesses of one instruction, by all channels of all threads."""

    def __init__(self, i: Instruction, m: MemoryMessage, threads: Threads, memory: Memory) -> None:
        assert i.payload is not None
        self._i, self._m, self._threads, self._memory, self._where = i, m, threads, memory, i.text
        self._mask = predicated(i, threads)
        self._each = m.data.memory // 8
        self._nbytes = self._each * m.vector
        self._size = 1 if m.transposed else i.size
        address = np.dtype(f"i{m.address_bits // 8}") if m.address_bits == 64 else np.dtype("u4")
        if m.address_bits == 16:
            raise NotRepresented(i.text, "addresses of 16 bits")
        self._addresses = self._lanes(i.payload, address)
        self._destination = None if i.payload.destination.file is RegisterFile.NULL else i.payload.destination.number
        self._data = _registers_of_data(i.payload, threads.grf_count)
        handle = m.surface if m.model in (AddressModel.BINDLESS, AddressModel.SURFACE) else None
        self._handle = None
        if handle is not None:
            a0 = threads.row(RegisterFile.ADDRESS, 0, i.text)
            self._handle = threads.view(np.dtype("u4"))[a0][:, handle]
        if m.transposed and m.data.memory != m.data.register:
            raise NotRepresented(i.text, "a transposed access that widens")

    def load(self) -> None:
        """Load."""
        row, lane, addresses = self._active()
        if not len(row):
            return
        if self._m.model is AddressModel.BINDING_TABLE and self._m.surface == _HEAP:
            values = _of_heap(self._memory, addresses, self._nbytes, self._where)
        elif self._is_scratch():
            values = self._scratch(row, addresses)
        elif self._m.function is SharedFunction.SLM:
            at = self._threads.subgroups.pick(self._chosen(row, lane))
            loaded = self._memory.shared.load(None, addresses[:, None], self._nbytes, at, self._where)
            values = loaded.reshape(len(row), self._nbytes)
        else:
            values = self._memory.load(addresses, self._nbytes, self._where, self._beyond())
        if self._destination is not None:
            self._give(row, lane, values)

    def _beyond(self) -> int:
        """Return how many of the loaded bytes may be after the end of a buffer.

        Intel's compiler rounds the elements of a block up to a power of two, from 8 on, where they are of a surface,
        which hardware bounds; blocks at addresses of 64 bits it divides instead.
        """
        is_rounded = self._m.transposed and self._handle is not None and self._m.vector >= _ROUNDED_VECTOR
        return self._nbytes // 2 - self._each if is_rounded else 0

    def store(self) -> None:
        """Store."""
        row, lane, addresses = self._active()
        if not len(row):
            return
        values = self._take(row, lane, 0)
        if self._is_scratch():
            self._check_all_scratch(addresses)
            scatter(self._memory.scratch, row, addresses, values)
        elif self._m.function is SharedFunction.SLM:
            at = self._threads.subgroups.pick(self._chosen(row, lane))
            self._memory.shared.store(None, addresses[:, None], values[:, None], at, self._where)
        else:
            self._memory.store(addresses, values, self._where)

    def atomic(self) -> None:
        """Update memory, channels of one thread after another."""
        m = self._m
        if m.vector != 1 or m.transposed:
            raise NotRepresented(self._where, "an atomic operation of vectors")
        row, lane, addresses = self._active()
        if not len(row):
            return
        is_float = m.access in (
            *(Access.FLOAT_ADD, Access.FLOAT_SUBTRACT, Access.FLOAT_MIN, Access.FLOAT_MAX),
            Access.FLOAT_COMPARE_EXCHANGE,
        )
        type_ = Type(_FLOATS[m.data.memory] if is_float else f"i{m.data.memory}")
        place = self._place(row, lane, addresses)
        old = self._updated(place, type_, row, lane)
        if self._destination is not None:
            self._give(row, lane, np.ascontiguousarray(old).view(np.uint8).reshape(len(row), -1))

    def _updated(self, place: Place, type_: Type, row: Array, lane: Array) -> Array:
        access, shape = self._m.access, place.offsets.shape
        if access in (Access.COMPARE_EXCHANGE, Access.FLOAT_COMPARE_EXCHANGE):
            per_component = -(-self._size * self._m.data.register // 8 // self._threads.grf_bytes)
            expected = self._operand(row, lane, 0, type_).reshape(shape)
            new = self._operand(row, lane, per_component, type_).reshape(shape)
            return compare_exchange(place, type_, expected, new)[0]
        if access in (Access.INCREMENT, Access.DECREMENT, Access.ATOMIC_LOAD):
            name, one = ("sub" if access is Access.DECREMENT else "add"), int(access is not Access.ATOMIC_LOAD)
            return read_modify_write(place, type_, OPERATIONS[name], np.full(shape, one, type_.dtype))
        if access not in _UPDATES:
            raise NotRepresented(self._where, f"{access} is not represented")
        value = self._operand(row, lane, 0, type_).reshape(shape)
        return read_modify_write(place, type_, OPERATIONS[_UPDATES[access]], value)

    def _operand(self, row: Array, lane: Array, first: int, type_: Type) -> Array:
        return np.ascontiguousarray(self._take(row, lane, first)).view(type_.dtype)[:, 0]

    def _place(self, row: Array, lane: Array, addresses: Array) -> Place:
        if (addresses % self._each).any():
            raise SimulationRefused(self._where, f"an atomic operation that is not aligned to {self._each} bytes")
        if self._m.function is SharedFunction.SLM:
            at = self._threads.subgroups.pick(self._chosen(row, lane))
            return Place(*self._memory.shared.atomic(None, addresses[:, None], self._each, at, self._where))
        buffer, offsets = self._memory.locate(addresses, self._each, self._where)
        check_writeable(buffer, self._where)
        return Place(buffer, None, offsets)

    def _active(self) -> tuple[Array, Array, Array]:
        """Return thread, channel and address of each access."""
        mask, shape = self._mask(), (self._threads.count, self._size)
        on = np.ones(shape, np.bool_) if mask is None else np.broadcast_to(mask[:, : self._size], shape)
        row, lane = np.nonzero(on)
        given = self._addresses()[row, lane].astype(np.int64) + self._m.offset
        if self._handle is not None and not self._is_scratch():
            given = surface_addresses(self._handle[row], given & 0xFFFFFFFF)
        elif self._m.address_bits == 32:
            given &= 0xFFFFFFFF & ~(_NO_NULL if self._m.function is SharedFunction.SLM else 0)
        return row, lane, given

    def _is_scratch(self) -> bool:
        return self._m.model is AddressModel.SURFACE

    def _scratch(self, row: Array, addresses: Array) -> Array:
        self._check_all_scratch(addresses)
        return gather(self._memory.scratch, row, addresses, self._nbytes)

    def _check_all_scratch(self, addresses: Array) -> None:
        for end in (int(addresses.min()), int(addresses.max())):
            _check_scratch(self._memory, end, self._nbytes, self._where)

    def _chosen(self, row: Array, lane: Array) -> Array:
        chosen = np.zeros((self._threads.count, self._threads.subgroups.size), np.bool_)
        chosen[row, lane] = True
        return chosen

    def _lanes(self, payload: Payload, dtype: np.dtype[np.generic]) -> Callable[[], Array]:
        """Return a function that gives an element of each channel, from the registers of addresses."""
        per_register = self._threads.grf_bytes // dtype.itemsize
        count, size = -(-self._size // per_register), self._size
        if payload.gathered:
            view, listed = self._threads.view(dtype), list(payload.gathered[:count])
            return lambda: view[listed].transpose(1, 0, 2).reshape(view.shape[1], -1)[:, :size]
        register = payload.address.number
        part = self._threads.view(dtype)[register : register + count]
        if count == 1:
            single = part[0][:, :size]
            return lambda: single
        return lambda: part.transpose(1, 0, 2).reshape(part.shape[1], -1)[:, :size]

    def _give(self, row: Array, lane: Array, values: Array) -> None:
        """Write what was loaded, [accesses, bytes], to registers."""
        assert self._destination is not None
        if self._m.transposed:
            _to_registers(self._threads, self._destination, row, values)
            return
        view, per_register = self._register_view()
        step = -(-self._size // per_register)
        elements = np.ascontiguousarray(values).view(f"u{self._each}")
        if self._m.data.high:
            elements = elements.astype(view.dtype) << np.uint32(16)
        for component in range(self._m.vector):
            at = self._destination + component * step + lane // per_register
            view[at, row, lane % per_register] = elements[:, component]

    def _take(self, row: Array, lane: Array, first: int) -> Array:
        """Return what is stored, [accesses, bytes], of the registers of data from one on."""
        if self._data is None:
            raise SimulationRefused(self._where, "a store without data")
        if self._m.transposed:
            count, register = -(-self._nbytes // self._threads.grf_bytes), int(self._data[first])
            given = self._threads.registers[register : register + count, row].transpose(1, 0, 2)
            return np.ascontiguousarray(given.reshape(len(row), -1)[:, : self._nbytes])
        view, per_register = self._register_view()
        step = -(-self._size // per_register)
        out = np.empty((len(row), self._m.vector), f"u{self._each}")
        for component in range(self._m.vector):
            elements = view[self._data[first + component * step + lane // per_register], row, lane % per_register]
            out[:, component] = elements >> np.uint32(16) if self._m.data.high else elements
        return out.view(np.uint8)

    def _register_view(self) -> tuple[Array, int]:
        nbytes = self._m.data.register // 8
        return self._threads.view(np.dtype(f"u{nbytes}")), self._threads.grf_bytes // nbytes
