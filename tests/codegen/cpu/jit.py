"""Runs object code of kernels in this process, through ctypes."""

import ctypes
import mmap
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.cpu.emit.object_code import (
    emit_object,
    optimise,
)

AVX512 = ("avx2", "fma", "f16c", "bmi", "bmi2", "avx512f", "avx512bw", "avx512vl", "avx512dq")
_PAGE = mmap.PAGESIZE


class Loaded:
    """Object code in memory, kept there."""

    def __init__(self, data: bytes) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    def entry(self, name: str, *kinds: object, result: object = None) -> Callable[..., Any]:
        """A function of it, by name."""
        address = self._engine.get_function_address(name)
        assert address, f"no function {name}"
        function = ctypes.CFUNCTYPE(result, *kinds)(address)  # pyright: ignore[reportArgumentType]

        def called(*arguments: object) -> Any:
            assert self._engine  # the code lives as long as what calls it
            return function(*arguments)

        return called


def load(text: str, features: tuple[str, ...]) -> Loaded:
    """Optimise, compile and load a module; skip the test where this CPU lacks a feature that the code uses."""
    host = llvm.get_host_cpu_features()
    if missing := [feature for feature in features if not host.get(feature)]:
        pytest.skip(f"this CPU has no {', '.join(missing)}")
    return Loaded(emit_object(optimise(text, features), features))


def guarded(buffer: NDArray[np.generic], offset: int = 0) -> NDArray[np.generic]:
    """A copy whose end is `offset` bytes before memory that nobody may touch."""
    nbytes = buffer.nbytes
    pages = -(-(nbytes + offset) // _PAGE)
    memory = mmap.mmap(-1, (pages + 1) * _PAGE)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + pages * _PAGE), ctypes.c_size_t(_PAGE), 0) == 0
    copy = np.frombuffer(memory, buffer.dtype, buffer.size, pages * _PAGE - nbytes - offset)
    copy[...] = buffer.reshape(-1)
    return copy
