"""Micro-kernels of vectors against numpy: types, sources, ragged edges, K blocks; memory ends where matrices do."""

import ctypes
import mmap
from functools import partial

import numpy as np
import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.writer import Function, Module
from codegen.cpu.microkernel.tile import Tile
from tests.codegen.cpu.microkernels import FLAGS, Run, compiled, lines_of_c, plan_of, skip_without
from tests.few import few

MAP_NORESERVE = 0x4000  # of Linux; Python does not name it
NONE, BLOCK = Packing.NONE, Packing.BLOCK
PAIRS = [
    (DType.F32, DType.F32),
    (DType.F16, DType.F16),
    (DType.BF16, DType.BF16),
    (DType.S8, DType.S8),
    (DType.U8, DType.S8),
    (DType.S8, DType.U8),
    (DType.U8, DType.U8),
]


EACH = [(isa, a, b) for a, b in PAIRS for isa in (Isa.AVX512, Isa.AVX2)]


@pytest.mark.parametrize(("isa", "a", "b"), few(EACH, 3), ids=lambda d: d.value)
def test_packed_panels(isa: Isa, a: DType, b: DType) -> None:
    skip_without(isa)
    problem = GemmProblem(23, 70, 45, dtype_a=a, dtype_b=b, ldc=75)
    Run(plan_of(problem, (6, 32 if isa is Isa.AVX512 else 16), isa=isa, unroll=3))()
    Run(plan_of(problem, (4, 16), isa=isa, block_k=16, unroll=2))()


@pytest.mark.parametrize(("isa", "a", "b"), few(EACH[:-2], 5), ids=lambda d: d.value)
def test_matrices_read_in_place(isa: Isa, a: DType, b: DType) -> None:
    skip_without(isa)
    problem = GemmProblem(11, 54, 43, dtype_a=a, dtype_b=b, lda=47, ldb=57, batch=2)
    if not plan_of(problem, (4, 16), isa=isa).multiply.value.startswith(("f32", "bf16", "s8")):
        pytest.skip("needs packed panels")
    for pack_a, pack_b in ((NONE, NONE), (NONE, BLOCK), (BLOCK, NONE)):
        Run(plan_of(problem, (3, 16), isa=isa, unroll=2, pack_a=pack_a, pack_b=pack_b))()
        ahead = partial(plan_of, prefetch=2, prefetch_tiles_n=int(pack_b is NONE))
        Run(ahead(problem, (4, 16), isa=isa, block_k=16, unroll=2, pack_a=pack_a, pack_b=pack_b))()


@pytest.mark.parametrize("dtype", [DType.F32, DType.F16], ids=lambda d: d.value)
def test_a_transposed_a_is_read_in_place(dtype: DType) -> None:
    skip_without(Isa.AVX512)
    problem = GemmProblem(19, 37, 21, dtype_a=dtype, dtype_b=dtype, transpose_a=True, lda=22)
    Run(plan_of(problem, (5, 32), unroll=4, pack_a=NONE, pack_b=BLOCK, prefetch=1))()


@pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX2])
def test_bf16_becomes_f32_without_an_instruction_for_it(isa: Isa) -> None:
    skip_without(isa)
    flags = [flag for flag in FLAGS if flag not in ("avx512_bf16", "avx512_vnni", "avx_vnni")]
    problem = GemmProblem(9, 21, 14, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16)
    Run(plan_of(problem, (4, 16), isa=isa, pack_a=NONE, pack_b=NONE, flags=flags))()
    integers = GemmProblem(9, 21, 14, dtype_a=DType.S8, dtype_b=DType.S8)
    Run(plan_of(integers, (4, 16), isa=isa, flags=flags))()


@pytest.mark.parametrize("dtype", [DType.F32, DType.U8], ids=lambda d: d.value)
def test_sums_of_several_k_threads_are_finished(dtype: DType) -> None:
    skip_without(Isa.AVX512)
    problem = GemmProblem(9, 37, 50, dtype_a=dtype, dtype_b=dtype, dtype_c=DType.F32)
    Run(plan_of(problem, (4, 32), block_k=8, unroll=2, threads_k=3))()


def test_addresses_of_matrices_of_more_than_2_to_31_elements() -> None:
    skip_without(Isa.AVX512)
    pitch, m, n, k = 2**24, 170, 19, 5
    problem = GemmProblem(m, n, k, dtype_a=DType.F32, dtype_b=DType.F32, lda=pitch, ldc=pitch)
    plan = plan_of(problem, (34, 16), pack_a=NONE, pack_b=NONE)
    # Memory that is only there where it is touched.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    a, c = (np.frombuffer(mmap.mmap(-1, m * pitch * 4, flags), np.float32).reshape(m, pitch) for _ in "ac")
    b = np.arange(k * n, dtype=np.float32).reshape(k, n)
    row, column, rows, columns = 136, 16, 34, 3
    a[row:, :k] = np.arange(rows * k).reshape(rows, k)
    pointers = (ctypes.c_void_p * 3)(a.ctypes.data, b.ctypes.data, c.ctypes.data)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5, *[ctypes.c_bool] * 2, *[ctypes.c_int64] * 3)
    engine = compiled(plan, None)
    start_a, start_b = a[row:].ctypes.data, b[:, column:].ctypes.data
    sums = np.zeros(34 * 16, np.float32)
    tile = call(engine.get_function_address(f"tile_{rows}x{columns}"))
    tile(ctypes.addressof(pointers), start_a, start_b, sums.ctypes.data, k, True, True, 0, row, column)
    assert (c[row:, column:n] == a[row:, :k] @ b[:, column:]).all()


@pytest.mark.parametrize(("k", "unroll", "rows"), [(512, 4, 1), (64, 4, 4), (64, 1, 1), (8, 4, 14)])
def test_rounds_fewer_than_rows_prefetch_several_rows_of_c_each(k: int, unroll: int, rows: int) -> None:
    problem = GemmProblem(28, 64, k, dtype_a=DType.U8, dtype_b=DType.S8)
    made = plan_of(problem, (14, 32), unroll=unroll)
    tile = Tile(Function(Module()), made, 14, 32)
    assert tile.rows_of_round == rows


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize(("rows", "k"), [(6, 32), (6, 8), (6, 4), (5, 8), (5, 6), (5, 2)])
def test_each_row_of_c_is_prefetched_and_none_below_the_tile(rows: int, k: int, blocks: int) -> None:
    skip_without(Isa.AVX2, "fma")
    problem = GemmProblem(rows, 32, blocks * k, dtype_a=DType.F32, dtype_b=DType.F32, ldc=40)
    assert lines_of_c(plan_of(problem, (rows, 16), isa=Isa.AVX2, block_k=k, unroll=2)) == {
        row * 160 + (column + 16) * 4 - 1 for row in range(rows) for column in (0, 16)
    }
