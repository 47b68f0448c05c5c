"""Regressions found by random GEMMs, reduced."""

from collections import Counter

import pytest

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    InvalidLaunch,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.launch import kernel_for
from codegen.problem.quantization import Quantization
from codegen.xe.rules import check
from hal import find
from tests.codegen.xe.build.draws import Draw
from tests.codegen.xe.build.judge import judge, verify_launched_for

SPEC = find("b580")
BF16, F32, S8, I32 = DType.BF16, DType.F32, DType.S8, DType.I32
ROWS = EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW)
PARTIAL = SplitK.PARTIAL_SUMS


def config(threads: Extent, block: Extent, load: Extent, strategy: XeStrategy) -> XeConfig:
    return XeConfig(MatmulConfig(threads, block, load), strategy)


FOUND: dict[str, tuple[GemmProblem, XeConfig]] = {
    # LLVM made two loops of one, for lanes with and without a copy, and each had the barrier.
    "copies-of-half-the-lanes": (
        GemmProblem(60, 11, 69, transpose_a=True, transpose_b=True, dtype_a=F32, dtype_b=F32),
        config(
            Extent(1, 1, 1),
            Extent(64, 32, 8),
            Extent(8, 16, 8),
            XeStrategy((4, 1), slm=SlmOperands.B, slm_stages=2),
        ),
    ),
    # A matrix of a dynamic batch lies where no type says, and transposing it needs that.
    "batch-of-dynamic-transposed": (
        GemmProblem(32, 96, 120, batch=3, dtype_a=BF16, dtype_b=BF16, transpose_b=True, dynamic=True),
        config(Extent(4, 6, 1), Extent(8, 16, 16), Extent(8, 16, 16), XeStrategy((1, 1))),
    ),
    # A memref of one element was by rows, and its tile by columns.
    "one-element-by-columns": (
        GemmProblem(1, 3, 1, transpose_a=True),
        config(Extent(1, 1, 1), Extent(8, 16, 16), Extent(8, 16, 16), XeStrategy((1, 1))),
    ),
    "one-element-by-columns-of-a-batch": (
        GemmProblem(2, 1, 1, batch=2, transpose_b=True, dtype_a=S8, dtype_b=S8),
        config(Extent(1, 1, 1), Extent(8, 16, 32), Extent(8, 16, 32), XeStrategy((1, 1))),
    ),
    # Rows of partial sums that are too short for block messages, which a dynamic kernel would have taken.
    "narrow-partial-sums": (
        GemmProblem(40, 9, 96, dynamic=True),
        config(Extent(3, 1, 2), Extent(16, 32, 16), Extent(8, 16, 16), XeStrategy((1, 1), split_k=PARTIAL)),
    ),
    # A message that leaves one element for each lane made a vector of one, which SPIR-V does not have.
    "one-element-for-each-lane": (
        GemmProblem(48, 112, 56, epilogue=(EpilogueStep(EpilogueKind.SCALE, axis=Axis.COLUMN, dtype=DType.F16),)),
        config(Extent(3, 7, 1), Extent(16, 16, 32), Extent(8, 16, 16), XeStrategy((1, 1), raster_group=2)),
    ),
    # MLIR loads transposed blocks of the first matrix of a batch, whichever is asked for.
    "batch-transposed": (
        GemmProblem(64, 48, 40, batch=2, transpose_b=True),
        config(Extent(3, 3, 1), Extent(24, 16, 32), Extent(8, 16, 16), XeStrategy((1, 1))),
    ),
    # LLVM named the first block, before which payloads must not be made.
    "payloads-in-a-named-block": (
        GemmProblem(16, 32, 64, dtype_a=BF16, dtype_b=BF16, epilogue=(EpilogueStep(EpilogueKind.GELU),)),
        config(
            Extent(1, 2, 1),
            Extent(24, 16, 16),
            Extent(8, 16, 16),
            XeStrategy((1, 1), Prefetch(PrefetchLevels.L2_L1, 1, 2, payloads=True), k_unroll=3),
        ),
    ),
    # Beyond K zeros are loaded; less a zero point and by a large scale they were infinite, and A's zeros by them NaN.
    "zero-points-beyond-k": (
        GemmProblem(
            16, 64, 80, dtype_b=DType.U8, dtype_c=DType.I32, quantization=Quantization(64, DType.E8M0, zeros=True)
        ),
        config(Extent(2, 2, 1), Extent(8, 32, 16), Extent(8, 16, 16), XeStrategy((1, 1), k_subgroups=4)),
    ),
    # Odd rows of A by columns were a surface of no rows; messages hold the rows less one, so that it had 2^32.
    "one-row-of-byte-columns": (
        GemmProblem(64, 96, 1, dtype_a=S8, dtype_b=S8, dtype_c=I32, transpose_a=True),
        config(Extent(2, 6, 1), Extent(32, 16, 32), Extent(8, 16, 32), XeStrategy((1, 1))),
    ),
    "one-row-of-dynamic-byte-columns": (
        GemmProblem(64, 96, 1, dtype_a=S8, dtype_b=S8, dtype_c=I32, transpose_a=True, dynamic=True),
        config(Extent(2, 6, 1), Extent(32, 16, 32), Extent(8, 16, 32), XeStrategy((1, 1))),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_right(name: str) -> None:
    problem, found = FOUND[name]
    check(problem, found, SPEC)
    assert not judge(Draw(0, "b580", problem, found, Counter())).fault


def test_a_dynamic_kernel_is_right_with_fewer_steps_than_splits() -> None:
    tuned = GemmProblem(40, 56, 96, dynamic=True)
    strategy = XeStrategy((1, 1), split_k=PARTIAL)
    artifact = compile_gemm(tuned, config(Extent(3, 2, 3), Extent(16, 32, 16), Extent(8, 16, 16), strategy), SPEC)
    verify_launched_for(artifact, GemmProblem(40, 56, 32, dynamic=True), SPEC)


def test_a_launch_whose_partial_sums_are_too_narrow_is_refused() -> None:
    tuned = GemmProblem(40, 56, 96, dynamic=True, alignment=4, epilogue=(ROWS,))
    strategy = XeStrategy((1, 1), split_k=PARTIAL)
    artifact = compile_gemm(tuned, config(Extent(3, 2, 2), Extent(16, 32, 16), Extent(8, 16, 16), strategy), SPEC)
    with pytest.raises(InvalidLaunch, match=r"width in bytes \(4 \* n\): at least 64.*it is 28"):
        kernel_for(artifact, GemmProblem(40, 7, 96, dynamic=True, alignment=4, epilogue=(ROWS,)), SPEC)
