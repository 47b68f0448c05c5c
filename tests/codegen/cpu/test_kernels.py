import ctypes
import mmap
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import DType, GemmProblem, LoopOrder
from codegen.config.cpu import Packing
from codegen.cpu.compile import compile_cpu_gemm
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from tests.codegen.cpu.run_kernels import Run, check_kernel, cpu_config, this_cpu
from tests.few import few
from tuner.verify.reference import Reference

_NO_RESERVE = 0x4000  # Linux: memory counts once it is written

pytestmark = pytest.mark.skipif(
    not {"avx512f", "fma"} <= set(this_cpu().isa or ()), reason="runs kernels: needs a CPU with AVX-512"
)

_ORDERS = [order for order in LoopOrder if order.walks_along_n]


def _f32(m: int, n: int, k: int, **others: Any) -> GemmProblem:
    return GemmProblem(m=m, n=n, k=k, dtype_a=DType.F32, dtype_b=DType.F32, **others)


@pytest.mark.parametrize("order", few(_ORDERS, 3))
def test_every_order_of_the_loops(order: LoopOrder) -> None:
    problem = _f32(31, 83, 57)
    config = cpu_config(block=(8, 32, 16), tile=(4, 16, 4), order=order, a=Packing.BLOCK, b=Packing.BLOCK)
    check_kernel(problem, config)


@pytest.mark.parametrize(
    ("order", "threads"),
    few(
        [
            (order, threads)
            for threads in ((2, 2, 3), (2, 1, 1), (1, 3, 1), (1, 1, 2), (3, 2, 1))
            for order in (LoopOrder.M_OUTER, LoopOrder.PNPMPKOKONOMINIMIK)
        ],
        3,
    ),
)
def test_every_grid_of_threads(order: LoopOrder, threads: tuple[int, int, int]) -> None:
    problem = _f32(31, 83, 57, batch=2)
    check_kernel(problem, cpu_config(threads=threads, block=(8, 32, 16), tile=(4, 16, 4), order=order), calls=3)


@pytest.mark.parametrize(
    ("a", "b"), few([(a, b) for a in (Packing.NONE, Packing.BLOCK, Packing.WHOLE) for b in Packing], 3)
)
def test_every_packing(a: Packing, b: Packing) -> None:
    problem = _f32(45, 71, 53, lda=59, ldb=77, ldc=73, alignment=4)
    check_kernel(problem, cpu_config(threads=(2, 1, 1), block=(16, 32, 20), tile=(8, 16, 4), a=a, b=b))


@pytest.mark.parametrize(
    "broadcast", few([{"batch_stride_a": 0}, {"batch_stride_b": 0}, {"batch_stride_a": 31 * 57 + 5}], 2)
)
def test_matrices_of_a_batch_lie_apart_or_are_shared(broadcast: dict[str, int]) -> None:
    problem = _f32(31, 43, 57, batch=3, **broadcast)
    for b in (Packing.BLOCK, Packing.WHOLE, Packing.BEFOREHAND):
        check_kernel(problem, cpu_config(threads=(4, 1, 1), block=(8, 32, 16), tile=(4, 16, 4), a=Packing.WHOLE, b=b))


@pytest.mark.parametrize("threads", [(2, 2, 1), (1, 2, 2)])
def test_sums_along_rows_and_columns(threads: tuple[int, int, int]) -> None:
    steps = tuple(EpilogueStep(EpilogueKind.REDUCE, axis=axis) for axis in Axis)
    problem = _f32(45, 71, 53, batch=2, epilogue=steps)
    check_kernel(problem, cpu_config(threads=threads, block=(16, 32, 20), tile=(8, 16, 4)), calls=2)


def test_sums_along_columns_of_tiles_that_fill_no_vector() -> None:
    step = EpilogueStep(EpilogueKind.REDUCE, axis=Axis.COLUMN)
    problem = _f32(7, 11, 33, transpose_b=True, epilogue=(step,))
    config = cpu_config(threads=(1, 2, 1), block=(4, 8, 48), tile=(1, 4, 16), a=Packing.NONE, b=Packing.NONE)
    check_kernel(problem, config)


@pytest.mark.parametrize(
    ("a", "b", "threads", "pieces"),
    few(
        [
            (*packings, threads, pieces)
            for packings in (("none", "whole"), ("block", "whole"), ("whole", "block"), ("block", "block"))
            for threads, pieces in (((2, 1, 1), 3), ((1, 3, 1), 3), ((2, 1, 2), 2))
        ],
        4,
    ),
)
def test_pieces_that_any_thread_may_take(a: str, b: str, threads: tuple[int, int, int], pieces: int) -> None:
    problem = _f32(61, 131, 57, batch=2)
    config = cpu_config(threads=threads, block=(8, 32, 16), tile=(4, 16, 4), a=Packing(a), b=Packing(b), pieces=pieces)
    check_kernel(problem, config, calls=3)


def test_sums_of_threads_over_k_are_the_same_every_time() -> None:
    problem = _f32(31, 83, 257)
    config = cpu_config(threads=(1, 1, 4), block=(8, 32, 16), tile=(4, 16, 4))
    reference, results = Reference(problem, 5), set[bytes]()
    with Run(compile_cpu_gemm(problem, config, this_cpu())) as run:
        for _ in range(20):
            buffers = reference.buffers()
            run(buffers)
            results.add(buffers[2].tobytes())
    assert len(results) == 1


def test_a_pool_may_have_more_threads_but_not_fewer() -> None:
    problem = _f32(31, 83, 57)
    artifact = compile_cpu_gemm(problem, cpu_config(threads=(3, 1, 1), block=(8, 32, 16), tile=(4, 16, 4)), this_cpu())
    buffers = Reference(problem, 5).buffers()
    before = buffers[2].copy()
    with Run(artifact, pool=2) as run:
        assert run(buffers) == [1]
    assert (buffers[2].view(np.uint32) == before.view(np.uint32)).all()
    with Run(artifact, pool=5) as run:
        assert run(buffers) == [0]
    assert not (buffers[2].view(np.uint32) == before.view(np.uint32)).any()


@pytest.mark.parametrize("dtype", [DType.BF16, DType.F16])
def test_one_column_that_is_left_is_all_that_is_written(dtype: DType) -> None:
    problem = GemmProblem(m=5, n=33, k=20, ldc=40, dtype_a=DType.F32, dtype_b=DType.F32, dtype_c=dtype)
    check_kernel(problem, cpu_config(block=(4, 32, 20), tile=(4, 32, 4)))


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
def test_one_byte_that_is_left_is_all_that_is_written(dtype: DType) -> None:
    problem = GemmProblem(m=5, n=33, k=20, ldc=40, dtype_a=DType.U8, dtype_b=DType.U8, dtype_c=dtype)
    check_kernel(problem, cpu_config(block=(4, 32, 20), tile=(4, 32, 4)))


def test_matrices_may_lie_more_than_two_gigabytes_apart() -> None:
    stride = 2**31 + 64
    problem = GemmProblem(
        m=31, n=83, k=57, batch=2, dtype_a=DType.U8, dtype_b=DType.S8, batch_stride_a=stride, batch_stride_b=stride
    )
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    a, b = (np.frombuffer(mmap.mmap(-1, 2 * stride, flags), kind) for kind in (np.uint8, np.int8))
    c, rng = np.zeros((2, 31, 83), np.int32), np.random.default_rng(3)
    config = cpu_config(threads=(2, 1, 1), block=(8, 32, 16), tile=(4, 16, 4))
    with Run(compile_cpu_gemm(problem, config, this_cpu())) as run:
        for at in (0, stride):
            a[at : at + 31 * 57] = rng.integers(0, 256, 31 * 57)
            b[at : at + 57 * 83] = rng.integers(-128, 128, 57 * 83)
        assert run((a, b, c)) == [0]
    for entry, at in enumerate((0, stride)):
        left, right = a[at : at + 31 * 57].reshape(31, 57), b[at : at + 57 * 83].reshape(57, 83)
        assert (c[entry] == left.astype(np.int32) @ right.astype(np.int32)).all()


@pytest.mark.parametrize(
    ("transpose_a", "transpose_b", "pack_a", "pack_b"),
    few(
        [
            (*transposed, *packed)
            for transposed in ((False, False), (False, True), (True, True))
            for packed in ((Packing.NONE, Packing.NONE), (Packing.BLOCK, Packing.WHOLE))
        ],
        3,
    ),
)
def test_rows_may_lie_so_far_apart_that_elements_need_more_than_32_bits(
    transpose_a: bool, transpose_b: bool, pack_a: Packing, pack_b: Packing
) -> None:
    m, n, k, pitch = 131, 133, 137, 2**24  # the last rows begin 2^31 elements behind the first
    problem = _f32(m, n, k, transpose_a=transpose_a, transpose_b=transpose_b, lda=pitch, ldb=pitch, ldc=pitch)
    in_place = pack_a is Packing.NONE
    dots = transpose_b and in_place
    if dots and transpose_a:
        pytest.skip("a rule refuses it")
    tile = (2, 4, 16) if dots else (4, 16, 4)
    config = cpu_config(threads=(2, 1, 1), block=(12, 48, 32), tile=tile, a=pack_a, b=pack_b)
    a, b, c = (_sparse(rows, pitch) for rows in ((k if transpose_a else m), (n if transpose_b else k), m))
    rng = np.random.default_rng(3)
    for matrix, length in ((a, m if transpose_a else k), (b, k if transpose_b else n)):
        matrix[:, :length] = rng.integers(-3, 4, (len(matrix), length))
    with Run(compile_cpu_gemm(problem, config, replace(this_cpu(), memory_bytes=2**50))) as run:
        assert run((a, b, c)) == [0]
    left, right = (a[:, :m].T if transpose_a else a[:, :k]), (b[:, :k].T if transpose_b else b[:, :n])
    assert (c[:, :n] == left @ right).all()
    assert not c[:, n : n + 64].any()


def _sparse(rows: int, pitch: int) -> NDArray[np.float32]:
    """A matrix of zeros, of which only the pages that are written take memory."""
    mapping = mmap.mmap(-1, rows * pitch * 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    return np.frombuffer(mapping, np.float32).reshape(rows, pitch)


@pytest.mark.parametrize("pack_b", [Packing.BLOCK, Packing.NONE])
def test_the_b_of_an_expert_without_rows_is_not_read(pack_b: Packing) -> None:
    problem = _f32(9, 64, 96, experts=3)
    artifact = compile_cpu_gemm(problem, cpu_config(tile=(4, 32, 4), block=(8, 32, 96), b=pack_b), this_cpu())
    a, _, c, _ = Reference(problem, seed=3).buffers()
    each = 64 * 96 * c.itemsize
    assert each % mmap.PAGESIZE == 0
    memory = mmap.mmap(-1, 3 * each)
    b = np.frombuffer(memory, np.float32)
    b[:] = np.random.default_rng(3).random(b.size)
    rows_of = ((0, slice(5)), (2, slice(5, 9)))
    wanted = np.concatenate([a.reshape(9, 96)[rows] @ b.reshape(3, 96, 64)[expert] for expert, rows in rows_of])
    begin = ctypes.c_void_p(b.ctypes.data + each)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(begin, ctypes.c_size_t(each), 0) == 0
    with Run(artifact) as run:
        assert run((a, b, c, np.array([0, 5, 5, 9], np.int32))) == [0]
    np.testing.assert_allclose(c.reshape(9, 64).astype(np.float64), wanted, rtol=1e-4, atol=1e-4)
