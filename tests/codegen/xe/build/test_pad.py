"""Copies of operands of any pitch: right products, only of what is needed, and block messages in the multiply."""

from dataclasses import replace

import numpy as np
import pytest

from codegen import (
    DType,
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    PaddedOperands,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.simulate.run_gemm import run_launch
from codegen.xe.padding import pad_groups, padded_pitch
from hal import find
from tuner.space.xe.adapt import adapt
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space
from tuner.verify.memory_layout import matrices
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_by_simulation

B580 = find("b580")
ODD = GemmProblem(51, 77, 83)


def artifact(problem: GemmProblem, padded: PaddedOperands, load: tuple[int, int, int] = (8, 16, 16)) -> GemmArtifact:
    """A kernel with small tiles that copies operands."""
    block = Extent(32, 32, 32)
    tiles = Extent(-(-problem.m // block.m), -(-problem.n // block.n), 1)
    strategy = XeStrategy((2, 1), pad_workspace=padded)
    return compile_gemm(problem, XeConfig(MatmulConfig(tiles, block, Extent(*load)), strategy), B580)


@pytest.mark.parametrize(
    ("problem", "padded"),
    [
        (replace(ODD, dtype_a=DType.BF16, dtype_b=DType.BF16), PaddedOperands.BOTH),
        (GemmProblem(51, 77, 83, batch=2, transpose_a=True, transpose_b=True, batch_stride_b=0), PaddedOperands.BOTH),
        (GemmProblem(51, 80, 83, dtype_a=DType.U8, dtype_b=DType.S8, alignment=4), PaddedOperands.A),
        (GemmProblem(51, 77, 96, dtype_a=DType.TF32, dtype_b=DType.TF32), PaddedOperands.B),
    ],
    ids=["bf16", "turned", "bytes", "tf32"],
)
def test_products_of_copies_are_right(problem: GemmProblem, padded: PaddedOperands) -> None:
    kernel = artifact(problem, padded, (8, 16, 8) if problem.dtype_a is DType.TF32 else _load(problem))
    names = [f"pad_{name}" for name in ("a", "b") if padded.value in (name, "both")]
    assert [step.kernel for step in kernel.launch.steps] == [*names, "gemm"]
    gemm = kernel.stage("lanes").data.decode().split("gpu.func @gemm")[1]
    assert gemm.count("xevm.blockload2d") > 0
    proof = verify_by_simulation(kernel)
    assert proof.checked == proof.total == problem.batch * 6


def _load(problem: GemmProblem) -> tuple[int, int, int]:
    return (8, 16, 32) if problem.dtype_a.is_integer else (8, 16, 16)


@pytest.mark.parametrize("transposed", [False, True])
def test_only_what_sampled_tiles_read_is_copied(transposed: bool) -> None:
    problem = GemmProblem(333, 205, 77, transpose_a=transposed, transpose_b=transposed)
    kernel = artifact(problem, PaddedOperands.BOTH)
    reference = Reference(problem, 1)
    buffers, every = reference.buffers(), reference.buffers()
    run_launch(kernel, buffers, only=[(0, 3, 5)])
    run_launch(kernel, every)
    some, whole = (matrices(found[2], problem.c, 1)[0] for found in (buffers, every))
    np.testing.assert_array_equal(some[96:128, 160:192], whole[96:128, 160:192])
    assert np.isnan(some[:96]).all()


def test_a_copy_has_whole_lines() -> None:
    a, b = replace(ODD, batch=3, batch_stride_b=0).operands[:2]
    assert (padded_pitch(a), padded_pitch(b)) == (96, 96)
    assert pad_groups(replace(ODD, batch=3), a) == (3, 2, 3)
    assert pad_groups(replace(ODD, batch=3, batch_stride_b=0), b) == (3, 3, 1)


def test_a_space_has_both_ways() -> None:
    space = xe_space(GemmProblem(7, 17, 33), B580)
    axis = next(axis for axis in space.axes if axis.name == "pad_workspace")
    assert axis.values == ("none", "both")


def test_a_configuration_by_blocks_becomes_one_with_copies() -> None:
    aligned = GemmProblem(51, 80, 96)
    config = default_config(aligned, B580)
    assert config.strategy.pad_workspace is PaddedOperands.NONE
    copied = adapt(config, aligned, ODD, B580)
    assert copied.strategy.pad_workspace is PaddedOperands.BOTH
    assert adapt(copied, ODD, aligned, B580).strategy.pad_workspace is PaddedOperands.NONE
