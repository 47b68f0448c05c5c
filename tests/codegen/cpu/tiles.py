"""Tile registers of AMX in numpy: what code does with them can be run on CPUs that have none.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, the instructions of the same names.
"""

import ctypes
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np

_I8, _I64, _PTR = ctypes.c_int8, ctypes.c_int64, ctypes.c_void_p
_KINDS = {_I8: "i8", _I64: "i64", _PTR: "ptr"}
_SIGNS = {"u": np.uint8, "s": np.int8}


class Tiles:
    """Eight registers, and what was done with them that the processor would refuse."""

    def __init__(self) -> None:
        self.registers = np.zeros((8, 16, 64), np.uint8)
        self.rows, self.row_bytes = [0] * 8, [0] * 8
        self.faults: list[str] = []
        self._functions: dict[str, tuple[tuple[type, ...], Callable[..., None]]] = {
            "ldtilecfg": ((_PTR,), self.load_setup),
            "tilerelease": ((), self.release),
            "tilezero": ((_I8,), self.zero),
            "tileloadd64": ((_I8, _PTR, _I64), self.load),
            "tilestored64": ((_I8, _PTR, _I64), self.store),
            "tdpbf16ps": ((_I8,) * 3, self.multiply_bf16),
        }
        for signs in ("ss", "su", "us", "uu"):
            self._functions[f"tdpb{signs}d"] = ((_I8,) * 3, self._multiply_bytes(signs))
        self._callbacks: list[object] = []

    def instead_of_instructions(self, text: str) -> str:
        """LLVM IR that calls these functions."""
        declared: list[str] = []
        for name, (kinds, _) in self._functions.items():
            listed = ", ".join(_KINDS[kind] for kind in kinds)
            declared.append(f"declare void @emulated_{name}({listed})")
            text = text.replace(f"@llvm.x86.{name}(", f"@emulated_{name}(")
        return "\n".join([*declared, text])

    def bind(self, module: llvm.ModuleRef, engine: llvm.ExecutionEngine) -> None:
        """Let a module call them."""
        for name, (kinds, function) in self._functions.items():
            callback = ctypes.CFUNCTYPE(None, *kinds)(function)
            self._callbacks.append(callback)
            address = ctypes.cast(callback, ctypes.c_void_p).value
            engine.add_global_mapping(module.get_function(f"emulated_{name}"), address)

    def load_setup(self, pointer: int) -> None:
        """ldtilecfg."""
        raw = ctypes.string_at(pointer, 64)
        if raw[0] != 1 or any(raw[1:16]) or any(raw[32:48]) or any(raw[56:64]):
            self.faults.append("a setup that is not palette 1 with eight registers")
        self.row_bytes = [int.from_bytes(raw[16 + 2 * n : 18 + 2 * n], "little") for n in range(8)]
        self.rows = list(raw[48:56])
        if max(self.rows) > 16 or max(self.row_bytes) > 64:
            self.faults.append("a register of more than 16 rows of 64 bytes")
        self.registers[:] = 0

    def release(self) -> None:
        """tilerelease."""
        self.rows, self.row_bytes = [0] * 8, [0] * 8

    def zero(self, register: int) -> None:
        """tilezero."""
        self._check(register)
        self.registers[register] = 0

    def load(self, register: int, pointer: int, pitch: int) -> None:
        """tileloadd."""
        self._check(register)
        self.registers[register] = 0
        for row in range(self.rows[register]):
            raw = ctypes.string_at(pointer + row * pitch, self.row_bytes[register])
            self.registers[register, row, : len(raw)] = np.frombuffer(raw, np.uint8)

    def store(self, register: int, pointer: int, pitch: int) -> None:
        """tilestored."""
        self._check(register)
        for row in range(self.rows[register]):
            raw = self.registers[register, row, : self.row_bytes[register]].tobytes()
            ctypes.memmove(pointer + row * pitch, raw, len(raw))

    def multiply_bf16(self, sums: int, a: int, b: int) -> None:
        """tdpbf16ps, with the sums of pairs rounded once."""
        left, right = self._factors(sums, a, b, np.uint16)
        values = [(x.astype(np.uint32) << 16).view(np.float32) for x in (left, right)]
        total = self.registers[sums].view(np.float32)
        total[: self.rows[sums]] += np.einsum("mkg,kng->mn", *values)

    def _multiply_bytes(self, signs: str) -> Callable[[int, int, int], None]:
        def multiply(sums: int, a: int, b: int) -> None:
            left, right = self._factors(sums, a, b, np.uint8)
            values = [x.view(_SIGNS[sign]).astype(np.int32) for x, sign in zip((left, right), signs, strict=True)]
            total = self.registers[sums].view(np.int32)
            total[: self.rows[sums]] += np.einsum("mkg,kng->mn", *values)

        return multiply

    def _factors(self, sums: int, a: int, b: int, dtype: type[np.generic]) -> tuple[np.ndarray, np.ndarray]:
        """A as [M, K, group] and B as [K, N, group]."""
        for register in (sums, a, b):
            self._check(register)
        if len({sums, a, b}) < 3 or self.rows[a] != self.rows[sums] or self.row_bytes[a] != 4 * self.rows[b]:
            self.faults.append(f"registers {sums}, {a} and {b} do not go together: rows {self.rows}")
        rows = self.rows[sums]
        left = self.registers[a].view(dtype).reshape(16, 16, -1)[:rows]
        return np.ascontiguousarray(left), np.ascontiguousarray(self.registers[b].view(dtype).reshape(16, 16, -1))

    def _check(self, register: int) -> None:
        if not self.rows[register]:
            self.faults.append(f"register {register} is used without a shape")


class Prefetches(Tiles):
    """The same, and the addresses that are prefetched to be written."""

    def __init__(self) -> None:
        super().__init__()
        self.stores: list[int] = []

    def instead_of_instructions(self, text: str) -> str:
        text = super().instead_of_instructions(text.replace("@llvm.prefetch.p0(", "@prefetched("))
        return "declare void @prefetched(ptr, i32, i32, i32)\n" + text

    def bind(self, module: llvm.ModuleRef, engine: llvm.ExecutionEngine) -> None:
        super().bind(module, engine)
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_int32] * 3)(self._prefetched)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        engine.add_global_mapping(module.get_function("prefetched"), address)

    def _prefetched(self, address: int, stores: int, locality: int, data: int) -> None:
        assert (locality, data) in ((2, 1), (3, 1))
        if stores:
            self.stores.append(address)
