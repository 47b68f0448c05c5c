"""State of the threads that run together: registers, flags, masks."""

from enum import IntEnum

import numpy as np

from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array, undefined_bytes
from codegen.xe.machine.operands import DataType, RegisterFile
from codegen.xe.machine.refusal import NotRepresented

_ACCUMULATORS = 16
_FLAG_BITS = 4 * 32
_CHANNELS = 32
_KEEPS_DENORMALS = 0x4C0  # cr0: of df, f and hf. Source: programmer's reference manual, "Control register"
_ROUNDING, _KNOWN = 0x30, 0x400004F0

VIEWS: dict[DataType, np.dtype[np.generic]] = {
    **{type_: np.dtype(f"u{type_.nbytes}") for type_ in (DataType.UB, DataType.UW, DataType.UD, DataType.UQ)},
    **{type_: np.dtype(f"i{type_.nbytes}") for type_ in (DataType.B, DataType.W, DataType.D, DataType.Q)},
    DataType.HF: np.dtype("f2"),
    DataType.F: np.dtype("f4"),
    DataType.DF: np.dtype("f8"),
    DataType.BF: np.dtype("u2"),
    DataType.BF8: np.dtype("u1"),
    DataType.TF32: np.dtype("f4"),
}
"""Numpy types that hold elements in registers; bf16 and bf8 as their bits."""


class Rounding(IntEnum):
    """Rounding of floating point, as in bits 4 and 5 of cr0."""

    NEAREST = 0
    UP = 1
    DOWN = 2
    TO_ZERO = 3


class Threads:
    """Registers of all threads that run together, one row for each register: [rows, threads, bytes].

    Behind the general registers are the accumulators, a0 and cr0. `wide` are the products in acc0 with all bits, of the
    channels of `wide_known`: those whose acc0 nothing has written since.
    `live` selects the threads that execute the current instruction, None all of them; `enabled` are the channels of
    each that are not parked by a branch, None all. A parked channel waits for the instruction in `parked`.
    """

    def __init__(self, subgroups: SubGroups, grf_count: int, grf_bytes: int) -> None:
        self.subgroups = subgroups
        self.count, self.grf_count, self.grf_bytes = len(subgroups), grf_count, grf_bytes
        rows = grf_count + _ACCUMULATORS + 2
        self.registers = undefined_bytes((rows, self.count, grf_bytes))
        self._a0, self._cr0 = rows - 2, rows - 1
        self.registers[self._a0 :] = 0
        self.wide = np.zeros((self.count, _CHANNELS), np.int64)
        self.wide_known = np.zeros((self.count, _CHANNELS), np.bool_)
        self.flags = np.zeros((self.count, _FLAG_BITS), np.bool_)
        self.live: Array | None = None
        self.enabled: Array | None = None
        self.parked = np.full((self.count, subgroups.size), -1, np.int32)
        self._rounds_to_nearest = True
        self._views: dict[np.dtype[np.generic], Array] = {}

    def view(self, dtype: np.dtype[np.generic]) -> Array:
        """Return the registers as elements: [rows, threads, elements]."""
        found = self._views.get(dtype)
        if found is None:
            found = self._views[dtype] = self.registers.view(dtype)
        return found

    def row(self, file: RegisterFile, number: int, where: str) -> int:
        """Return the row of a register.

        Raises:
            NotRepresented: a register file that is not represented, or no such register.
        """
        match file:
            case RegisterFile.GRF if number < self.grf_count:
                return number
            case RegisterFile.ACCUMULATOR if number < _ACCUMULATORS:
                return self.grf_count + number
            case RegisterFile.ADDRESS if number == 0:
                return self._a0
            case RegisterFile.CONTROL if number == 0:
                return self._cr0
            case _:
                raise NotRepresented(where, f"register {file}{number} is not represented")

    def mask(self, channel: int, size: int, no_mask: bool) -> Array | None:
        """Return which channels from `channel` on execute: [threads, size or 1], None for all."""
        if no_mask:
            return None if self.live is None else self.live[:, None]
        if self.enabled is None:
            return None if self.live is None else self.live[:, None]
        part = self.enabled[:, channel : channel + size]
        return part if self.live is None else part & self.live[:, None]

    def rows(self) -> Array:
        """Return the numbers of the threads that execute."""
        return np.arange(self.count) if self.live is None else np.flatnonzero(self.live)

    def note_parked(self) -> Array | None:
        """Compute `enabled` again after channels were parked or woken, and return it."""
        free = self.parked < 0
        self.enabled = None if free.all() else free
        return self.enabled

    def check_modes(self, where: str) -> None:
        """Check the floating-point modes that a kernel has set.

        Raises:
            NotRepresented: denormals are flushed, or a mode that is not known.
        """
        words = self.view(np.dtype("u4"))[self._cr0, :, 0]
        words = words if self.live is None else words[self.live]
        if ((words & _KEEPS_DENORMALS) != _KEEPS_DENORMALS).any() or (words & ~np.uint32(_KNOWN)).any():
            raise NotRepresented(where, f"modes {int(words[0]):#x} in cr0 are not represented")
        self._rounds_to_nearest = not (self.view(np.dtype("u4"))[self._cr0, :, 0] & _ROUNDING).any()

    def rounding(self, where: str) -> Rounding:
        """Return how the threads that execute round.

        Raises:
            NotRepresented: they differ.
        """
        if self._rounds_to_nearest:
            return Rounding.NEAREST
        modes = self.view(np.dtype("u4"))[self._cr0, self.rows(), 0] & _ROUNDING
        if (modes != modes[0]).any():
            raise NotRepresented(where, "threads that round differently in one instruction")
        return Rounding(int(modes[0]) >> 4)
