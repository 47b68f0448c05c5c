"""Micro-kernels of a transposed B in place against numpy: every type, tails along K, tiles of few rows."""

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import Multiply
from tests.codegen.cpu.microkernels import Run, plan_of, skip_without
from tests.few import few

NONE = Packing.NONE
PAIRS = [
    (DType.F32, DType.F32),
    (DType.F16, DType.F16),
    (DType.BF16, DType.BF16),
    (DType.S8, DType.S8),
    (DType.U8, DType.S8),
    (DType.S8, DType.U8),
]


@pytest.mark.parametrize(
    ("isa", "a", "b"), few([(isa, a, b) for a, b in PAIRS for isa in (Isa.AVX512, Isa.AVX2)], 3), ids=lambda d: d.value
)
def test_rows_along_k(isa: Isa, a: DType, b: DType) -> None:
    skip_without(isa)
    problem = GemmProblem(5, 21, 213, dtype_a=a, dtype_b=b, transpose_b=True, lda=217, ldb=219)
    if plan_of(problem, (2, 5), isa=isa).multiply is Multiply.S16:
        pytest.skip("needs packed panels")
    Run(plan_of(problem, (2, 5), isa=isa, unroll=2, pack_a=NONE, pack_b=NONE))()
    Run(plan_of(problem, (4, 3), isa=isa, block_k=64, pack_a=NONE, pack_b=NONE, prefetch=3))()


def test_one_row_and_a_depth_below_a_vector() -> None:
    skip_without(Isa.AVX512)
    problem = GemmProblem(1, 37, 11, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=True, batch=2)
    Run(plan_of(problem, (1, 20), pack_a=NONE, pack_b=NONE))()


def test_sums_of_several_k_threads_are_finished() -> None:
    skip_without(Isa.AVX512)
    problem = GemmProblem(3, 22, 150, dtype_a=DType.F32, dtype_b=DType.F32, transpose_b=True)
    Run(plan_of(problem, (2, 9), block_k=32, threads_k=2, pack_a=NONE, pack_b=NONE))()
