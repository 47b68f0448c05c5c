"""2-D block messages.

The address register describes the surface (base, width, height and pitch in bytes, each but the base less one), the
place of the block (column in elements, row) and its extents. Elements outside of the surface are read as zeros and not
written. In registers a row takes the next power of two of elements, with VNNI rows are interleaved to elements of
32 bits, and transposed a column takes the place of a row; each block of an array begins at a register.

Source: Intel Graphics Programmer's Reference Manual (Xe HPC, Xe2), volume "Shared functions": A2DBLOCK_PAYLOAD,
DP_LOAD_2DBLOCK_ARRAY, DP_STORE_2DBLOCK; restrictions: OpenCL extension cl_intel_subgroup_2d_block_io.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from codegen.simulate.memory.address_space import check_writeable
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import Array
from codegen.xe.machine.execute.memory import Memory
from codegen.xe.machine.execute.threads import Threads
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.messages import Access, MemoryMessage
from codegen.xe.machine.operands import RegisterFile
from codegen.xe.machine.refusal import NotRepresented

_SURFACE_ALIGNMENT, _LEAST_WIDTH = 64, 64


@dataclass(frozen=True, slots=True)
class _Extents:
    """Columns and rows of a block, in elements, and how many blocks are side by side."""

    columns: int
    rows: int
    blocks: int


@dataclass(frozen=True, slots=True)
class _Surfaces:
    """Surfaces of some threads: base address, width in bytes, rows, pitch in bytes, and the block's first element."""

    base: Array
    width: Array
    height: Array
    pitch: Array
    x: Array
    y: Array


def block_step(i: Instruction, m: MemoryMessage, threads: Threads, memory: Memory) -> Callable[[], None]:
    """Return a function that executes a 2-D block message for the threads that are live.

    Raises:
        NotRepresented: a form that is not represented.
    """
    assert i.payload is not None
    if i.predicate is not None:
        raise NotRepresented(i.text, "a predicated block message")
    header = threads.view(np.dtype("u4"))[i.payload.address.number]
    message = _Block(i, m, threads, memory)

    def execute() -> None:
        mask = threads.mask(i.channel, 1, i.no_mask)
        rows = np.arange(threads.count) if mask is None else np.flatnonzero(mask[:, 0])
        words = header[rows]
        for extents in np.unique(words[:, 7]).tolist():
            chosen = words[:, 7] == extents
            message.execute(rows[chosen], words[chosen], extents)

    return execute


class _Block:
    """One block message of all threads."""

    def __init__(self, i: Instruction, m: MemoryMessage, threads: Threads, memory: Memory) -> None:
        assert i.payload is not None
        self._message, self._memory, self._where = m, memory, i.text
        self._nbytes = m.data.memory // 8
        self._grf_bytes = threads.grf_bytes
        stores = m.access is Access.STORE_BLOCK_2D
        register = i.payload.data if stores else i.payload.destination
        self._registers = None if register.file is RegisterFile.NULL else threads.registers[register.number :]
        if stores and (m.vnni or m.transposed):
            raise NotRepresented(i.text, "a block that is stored transposed")

    def execute(self, rows: Array, words: Array, extents: int) -> None:
        """Execute for threads by number, whose headers have these words and the same extents of blocks."""
        block = _Extents((extents & 255) + 1, (extents >> 8 & 255) + 1, (extents >> 16 & 15) + 1)
        surfaces = self._surfaces(words)
        self._check(surfaces)
        if self._registers is None:
            return  # a prefetch
        if self._message.access is Access.STORE_BLOCK_2D:
            self._store(rows, surfaces, block)
        else:
            self._load(rows, surfaces, block)

    def _surfaces(self, words: Array) -> _Surfaces:
        base = np.ascontiguousarray(words[:, :2]).view(np.int64)[:, 0]
        width, height, pitch = (words[:, place].astype(np.int64) + 1 for place in (2, 3, 4))
        x, y = (np.ascontiguousarray(words[:, place]).view(np.int32).astype(np.int64) for place in (5, 6))
        dx, dy = self._message.offset_2d
        return _Surfaces(base, width, height, pitch, x + dx, y + dy)

    def _check(self, s: _Surfaces) -> None:
        multiple = max(4, self._nbytes)
        for what, holds in (
            (f"surfaces begin at multiples of {_SURFACE_ALIGNMENT} bytes", s.base % _SURFACE_ALIGNMENT == 0),
            (f"widths are multiples of {multiple} and at least {_LEAST_WIDTH} bytes", s.width % multiple == 0),
            (f"widths are at least {_LEAST_WIDTH} bytes", s.width >= _LEAST_WIDTH),
            ("pitches are at least the width and multiples of 16 bytes", (s.pitch >= s.width) & (s.pitch % 16 == 0)),
            ("blocks begin at multiples of 4 bytes", s.x * self._nbytes % 4 == 0),
        ):
            if not holds.all():
                raise SimulationRefused(self._where, f"2-D block messages are defined where {what}")

    def _elements(self, s: _Surfaces, block: _Extents) -> tuple[Array, Array, Array]:
        """Return the buffer as elements, and of each element its place there and whether it is inside of the surface.

        Places are [threads, rows, columns of all blocks].
        """
        surface_bytes = int(((s.height - 1) * s.pitch + s.width).max())
        buffer, offset = self._memory.locate(s.base, surface_bytes, self._where)
        nbytes = self._nbytes
        typed = buffer[: buffer.size // nbytes * nbytes].view(f"u{nbytes}")
        row = s.y[:, None] + np.arange(block.rows)
        column = s.x[:, None] + np.arange(block.columns * block.blocks)
        row_inside = (row >= 0) & (row < s.height[:, None])
        column_inside = (column >= 0) & ((column + 1) * nbytes <= s.width[:, None])
        first = (offset[:, None] + row * s.pitch[:, None]) // nbytes
        return typed, first[:, :, None] + column[:, None], row_inside[:, :, None] & column_inside[:, None]

    def _load(self, rows: Array, s: _Surfaces, block: _Extents) -> None:
        typed, places, inside = self._elements(s, block)
        if inside.all():
            values = typed[places]
        else:
            values = np.where(inside, typed[np.where(inside, places, 0)], typed.dtype.type(0))
        count = len(rows)
        by_block = values.reshape(count, block.rows, block.blocks, block.columns).transpose(0, 2, 1, 3)
        self._give(rows, self._arranged(by_block, block))

    def _arranged(self, values: Array, block: _Extents) -> Array:
        """Return blocks [threads, blocks, rows, columns] as they lie in registers, [threads, blocks, elements]."""
        count = len(values)
        if self._message.transposed:
            return _padded(values.transpose(0, 1, 3, 2), 3, _power_of_two(block.rows)).reshape(count, block.blocks, -1)
        columns = _power_of_two(block.columns)
        values = _padded(values, 3, columns)
        if self._message.vnni:
            each = 4 // self._nbytes
            values = _padded(values, 2, -(-block.rows // each) * each)
            values = values.reshape(count, block.blocks, -1, each, columns).transpose(0, 1, 2, 4, 3)
        return values.reshape(count, block.blocks, -1)

    def _give(self, rows: Array, values: Array) -> None:
        per_register = self._grf_bytes // self._nbytes
        whole = _padded(values, 2, -(-values.shape[2] // per_register) * per_register)
        registers = np.ascontiguousarray(whole).view(np.uint8).reshape(len(rows), -1, self._grf_bytes)
        assert self._registers is not None
        count = registers.shape[1]
        if len(rows) == self._registers.shape[1]:
            self._registers[:count] = registers.transpose(1, 0, 2)
        else:
            self._registers[:count, rows] = registers.transpose(1, 0, 2)

    def _store(self, rows: Array, s: _Surfaces, block: _Extents) -> None:
        if block.blocks != 1:
            raise NotRepresented(self._where, "a store of several blocks")
        typed, places, inside = self._elements(s, block)
        check_writeable(typed, self._where)
        columns = _power_of_two(block.columns)
        count = -(-block.rows * columns * self._nbytes // self._grf_bytes)
        assert self._registers is not None
        given = np.ascontiguousarray(self._registers[:count, rows].transpose(1, 0, 2)).view(typed.dtype)
        values = given.reshape(len(rows), -1)[:, : block.rows * columns].reshape(len(rows), block.rows, columns)
        values = values[:, :, : block.columns]
        if inside.all():
            typed[places] = values
        else:
            typed[places[inside]] = values[inside]


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _padded(values: Array, axis: int, count: int) -> Array:
    """Return an array with zeros at the end of an axis."""
    missing = count - values.shape[axis]
    if not missing:
        return values
    return np.pad(values, [(0, missing if number == axis else 0) for number in range(values.ndim)])
