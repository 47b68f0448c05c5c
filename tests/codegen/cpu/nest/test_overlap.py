import ctypes
import itertools
import random

import numpy as np
import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.compile import compile_cpu_gemm
from codegen.cpu.emit.writer import Module
from codegen.cpu.nest.overlap import (
    Buffer,
    scratch,
    write_overlap_check,
)
from codegen.cpu.status import Status
from tests.codegen.cpu.jit import load
from tests.codegen.cpu.run_kernels import Run, cpu_config, this_cpu

needs_avx2 = pytest.mark.skipif("fma" not in (this_cpu().isa or ()), reason="runs a kernel: needs AVX2 with FMA")


def _bytes_of(buffer: Buffer, address: int) -> set[int]:
    rows = range(0, buffer.nbytes, buffer.pitch)
    return {address + row + byte for row in rows for byte in range(min(buffer.row, buffer.nbytes - row))}


def _checked(buffers: list[Buffer], addresses: tuple[int, ...]) -> int:
    module = Module()
    with module.function("check", [("ptr", f"%{b.parameter}") for b in buffers], "i32", "") as f:
        write_overlap_check(f, buffers, 3)
        f.end("ret i32 0")
    entry = load(module.text, ()).entry("check", *[ctypes.c_void_p] * len(buffers), result=ctypes.c_int)
    return entry(*addresses)


def test_two_buffers_overlap_where_they_share_a_byte() -> None:
    r = random.Random(4)
    seen = set[int]()
    for _ in range(12):
        pitch = r.choice([24, 40])
        shapes = [(r.randint(1, pitch), r.randint(1, 4), r.choice([pitch, pitch, 32])) for _ in range(2)]
        buffers = [
            Buffer(name, (rows - 1) * p + min(row, p), min(row, p), p, written=name == "C")
            for name, (row, rows, p) in zip("AC", shapes, strict=True)
        ]
        module = Module()
        with module.function("check", [("ptr", "%A"), ("ptr", "%C")], "i32", "") as f:
            write_overlap_check(f, buffers, 3)
            f.end("ret i32 0")
        entry = load(module.text, ()).entry("check", ctypes.c_void_p, ctypes.c_void_p, result=ctypes.c_int)
        for distance in range(-170, 171):
            shared = _bytes_of(buffers[0], 1000) & _bytes_of(buffers[1], 1000 + distance)
            got = entry(1000, 1000 + distance)
            seen.add(got)
            if shared:
                assert got == 3, (buffers, distance)
            elif buffers[0].pitch == buffers[1].pitch:
                assert got == 0, (buffers, distance)
    assert seen == {0, 3}


def test_what_is_only_read_may_overlap() -> None:
    a, b, c = (scratch(name, 64, written=name == "C") for name in "ABC")
    assert _checked([a, b, c], (640, 650, 1280)) == 0
    assert _checked([a, b, c], (640, 650, 700)) == 3


@needs_avx2
def test_a_call_refuses_what_overlaps_and_writes_nothing() -> None:
    problem = GemmProblem(m=13, n=21, k=17, dtype_a=DType.F32, dtype_b=DType.F32)
    config = cpu_config(Isa.AVX2, (1, 1, 1), (8, 32, 16), (4, 16, 4), b=Packing.BEFOREHAND)
    with Run(compile_cpu_gemm(problem, config, this_cpu())) as run:
        memory = np.arange(13 * 17 + 17 * 21 + 13 * 21, dtype=np.float32)
        a, b, c = memory[: 13 * 17], memory[13 * 17 : -13 * 21], memory[-13 * 21 :]
        assert run((a, b, c)) == [Status.DONE, Status.DONE]
        before = memory.copy()
        for first, second in itertools.product((a, b), (-1, 1)):
            at = (first.ctypes.data - memory.ctypes.data) // 4 + second
            overlapping = memory[max(at, 0) :][: c.size]
            assert run((a, b, overlapping))[-1] == Status.OVERLAP
        assert (memory == before).all()


@needs_avx2
def test_c_may_be_columns_beside_those_of_a() -> None:
    problem = GemmProblem(m=13, n=11, k=17, lda=40, ldc=40, dtype_a=DType.F32, dtype_b=DType.F32)
    config = cpu_config(Isa.AVX2, (1, 1, 1), (8, 16, 16), (4, 16, 4))
    rng = np.random.default_rng(5)
    matrix, b = rng.integers(-3, 4, (13, 40)).astype(np.float32), rng.integers(-3, 4, (17, 11)).astype(np.float32)
    flat, want = matrix.reshape(-1), matrix[:, :17] @ b
    with Run(compile_cpu_gemm(problem, config, this_cpu())) as run:
        assert run((flat, b.reshape(-1), flat[16:])) == [Status.OVERLAP]
        assert run((flat, b.reshape(-1), flat[17:])) == [Status.DONE]
        assert (matrix[:, 17:28] == want).all()
        assert run((flat, b.reshape(-1), flat[30:])) == [Status.OVERLAP]  # its last columns are A's next row
