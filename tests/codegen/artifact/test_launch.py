"""Launches of a dynamic kernel at sizes that it was not tuned for."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from codegen import (
    Axis,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmArtifact,
    GemmProblem,
    InvalidLaunch,
    MatmulConfig,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.launch import kernel_for
from codegen.simulate import run_kernel
from hal import LaunchSpec
from hal.facts.xe import find
from tests.few import few

SPEC = find("b580")
STEPS = (EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN), EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW))


def problem_of(m: int, n: int, k: int, batch: int = 2, lda: int | None = None, ldc: int | None = None) -> GemmProblem:
    return GemmProblem(m, n, k, batch=batch, lda=lda, ldc=ldc, dynamic=True, epilogue=STEPS)


TUNED = problem_of(96, 160, 64)
OTHERS = (problem_of(40, 208, 96, batch=3), problem_of(130, 48, 32, lda=64, ldc=64))


@cache
def compiled(threads: Extent, strategy: XeStrategy) -> GemmArtifact:
    config = XeConfig(MatmulConfig(threads, Extent(32, 64, 32), Extent(16, 32, 32)), strategy)
    return compile_gemm(TUNED, config, SPEC)


def run(artifact: GemmArtifact, launch: LaunchSpec, problem: GemmProblem) -> tuple[np.ndarray, np.ndarray]:
    """C and the sums that a launch makes, and what they should be."""
    p, rng = problem, np.random.default_rng(0)
    a = rng.integers(-4, 5, (p.batch, p.m, p.pitch_a)).astype(np.float16)
    b = rng.integers(-4, 5, (p.batch, p.k, p.pitch_b)).astype(np.float16)
    c, bias = np.full((p.batch, p.m, p.pitch_c), np.nan, np.float32), rng.integers(-4, 5, p.n).astype(np.float32)
    sums = np.full((p.batch, p.m), np.nan, np.float32)
    scratch = [np.full(x.nbytes // 4, np.nan, np.float32) for x in launch.arguments if x.role == "scratch"]
    buffers = [a, b, c, bias, sums, *scratch]
    for step in launch.steps:
        values = [buffers[v] if isinstance(v, int) else v.value for v in step.parameters]
        run_kernel(artifact.stage("llvm").data.decode(), step.kernel, step.groups, step.local_size, values)
    expected = a[..., : p.k].astype(float) @ b[..., : p.n].astype(float) + bias
    return np.concatenate([c[..., : p.n], sums[..., None]], -1), np.concatenate(
        [expected, expected.sum(-1, keepdims=True)], -1
    )


@pytest.mark.parametrize("problem", few(OTHERS, 2), ids=str)
@pytest.mark.parametrize(
    ("threads", "strategy"),
    [
        pytest.param(Extent(3, 3, 1), XeStrategy((2, 2)), marks=pytest.mark.slow),
        (Extent(2, 1, 1), XeStrategy((2, 2))),
        (Extent(3, 3, 2), XeStrategy((2, 2), split_k=SplitK.PARTIAL_SUMS, raster_group=2)),
    ],
    ids=["a tile each", "persistent", "split"],
)
def test_a_dynamic_kernel_is_right_at_other_sizes(threads: Extent, strategy: XeStrategy, problem: GemmProblem) -> None:
    artifact = compiled(threads, strategy)
    got, expected = run(artifact, kernel_for(artifact, problem, SPEC).launch, problem)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "problem", few([problem_of(48, 128, 32), problem_of(64, 64, 64), problem_of(40, 64, 96)], 3), ids=str
)
@pytest.mark.slow
def test_persistent_work_groups_in_groups_of_rows_are_right_where_tiles_are_fewer(problem: GemmProblem) -> None:
    matmul = MatmulConfig(Extent(4, 2, 1), Extent(16, 64, 16), Extent(8, 16, 16))
    artifact = compile_gemm(problem_of(128, 512, 64), XeConfig(matmul, XeStrategy((1, 1), raster_group=2)), SPEC)
    got, expected = run(artifact, kernel_for(artifact, problem, SPEC).launch, problem)
    np.testing.assert_array_equal(got, expected)


def test_a_kernel_that_adds_atomically_is_not_launched_for_a_deterministic_problem() -> None:
    tuned = GemmProblem(96, 160, 64, dynamic=True)
    matmul = MatmulConfig(Extent(3, 3, 2), Extent(32, 64, 32), Extent(16, 32, 32))
    artifact = compile_gemm(tuned, XeConfig(matmul, XeStrategy((2, 2), split_k=SplitK.ATOMIC)), SPEC)
    kernel_for(artifact, tuned, SPEC)
    with pytest.raises(InvalidLaunch, match="not deterministic"):
        kernel_for(artifact, replace(tuned, deterministic=True), SPEC)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(TUNED, epilogue=()), "differs in sizes alone"),
        (problem_of(96, 160, 64, batch=1), "differs in sizes alone"),
        (problem_of(96, 150, 64), "accesses B by block messages; block2d-pitch"),
        (problem_of(96, 160, 24, lda=32), "accesses A by block messages; block2d-width"),
    ],
)
@pytest.mark.slow
def test_a_launch_that_the_kernel_is_not_for_is_refused(problem: GemmProblem, message: str) -> None:
    artifact = compiled(Extent(3, 3, 1), XeStrategy((2, 2)))
    with pytest.raises(InvalidLaunch, match=message):
        kernel_for(artifact, problem, SPEC)


def test_a_static_kernel_has_one_launch() -> None:
    static = replace(TUNED, dynamic=False)
    config = XeConfig(MatmulConfig(Extent(3, 3, 1), Extent(32, 64, 32), Extent(16, 32, 32)), XeStrategy((2, 2)))
    with pytest.raises(InvalidLaunch, match="dynamic problem"):
        kernel_for(compile_gemm(static, config, SPEC), static, SPEC)
