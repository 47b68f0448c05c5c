"""Operands prepared in a workspace: right products, only of what is needed, and block messages in the multiply."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
import pytest

from codegen import (
    Activation,
    DType,
    Extent,
    Gate,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.manifest import manifest
from codegen.problem.quantization import Quantization
from codegen.simulate import SimulationReport, run_kernel
from codegen.simulate.arguments import Value
from codegen.simulate.run_gemm import run_launch
from codegen.target import target_of
from codegen.xe.artifact_json import artifact_from_json, artifact_to_json
from codegen.xe.isa import compile_kernel
from codegen.xe.operand_access import AccessBy, memory_paths
from codegen.xe.prepare import in_workspace, prepare_block, prepare_groups
from hal import find
from service.cli.compiler.inspection.launch import launch_lines
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tuner import ProofKind
from tuner.space.xe.adapt import adapt
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space
from tuner.verify.memory_layout import matrices
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_by_simulation

B580 = find("b580")
ODD = GemmProblem(51, 77, 83)
WEIGHTS = {
    "u4": GemmProblem(
        51, 77, 96, dtype_a=DType.BF16, dtype_b=DType.U4, transpose_b=True, quantization=Quantization(32, DType.BF16, 8)
    ),
    "u4 with zero points": GemmProblem(
        51, 77, 96, batch=2, dtype_b=DType.U4, quantization=Quantization(48, zeros=True)
    ),
    "e4m3 of odd sizes": GemmProblem(51, 77, 83, batch=2, batch_stride_b=0, dtype_b=DType.E4M3),
    "s8 of both products": GemmProblem(
        *(51, 80, 96),
        dtype_a=DType.BF16,
        dtype_b=DType.S8,
        quantization=Quantization(None, DType.F32),
        gate=Gate(Activation.SILU),
    ),
    "e2m1 interleaved": GemmProblem(
        *(51, 96, 160),
        dtype_a=DType.BF16,
        dtype_b=DType.E2M1,
        quantization=Quantization(32, DType.E8M0),
        gate=Gate(Activation.SILU, 32),
    ),
}


def artifact(
    problem: GemmProblem, which: WorkspaceOperands, load: tuple[int, int, int] = (8, 16, 16), device: str = "b580"
) -> GemmArtifact:
    """A kernel with small tiles that prepares operands."""
    block = Extent(32, 32, 32)
    tiles = Extent(-(-problem.m // block.m), -(-problem.n // block.n), 1)
    strategy = XeStrategy((2, 1), workspace=which)
    return compile_gemm(problem, XeConfig(MatmulConfig(tiles, block, Extent(*load)), strategy), find(device))


@pytest.mark.parametrize(
    ("problem", "which"),
    [
        (replace(ODD, dtype_a=DType.BF16, dtype_b=DType.BF16), WorkspaceOperands.BOTH),
        (
            GemmProblem(51, 77, 83, batch=2, transpose_a=True, transpose_b=True, batch_stride_b=0),
            WorkspaceOperands.BOTH,
        ),
        (GemmProblem(51, 80, 83, dtype_a=DType.U8, dtype_b=DType.S8, alignment=4), WorkspaceOperands.A),
        (GemmProblem(51, 77, 96, dtype_a=DType.TF32, dtype_b=DType.TF32), WorkspaceOperands.B),
        (GemmProblem(51, 77, 83, transpose_b=True, gate=Gate(Activation.SILU)), WorkspaceOperands.BOTH),
    ],
    ids=["bf16", "turned", "bytes", "tf32", "gated"],
)
def test_products_of_copies_are_right(problem: GemmProblem, which: WorkspaceOperands) -> None:
    kernel = artifact(problem, which, (8, 16, 8) if problem.dtype_a is DType.TF32 else _load(problem))
    names = [f"pad_{name}" for name in ("a", "b") if which.value in (name, "both")]
    assert [step.kernel for step in kernel.launch.steps] == [*names, "gemm"]
    gemm = kernel.stage("lanes").data.decode().split("gpu.func @gemm")[1]
    assert gemm.count("xevm.blockload2d") > 0
    proof = verify_by_simulation(kernel)
    assert proof.checked == proof.total == problem.batch * 6


def _load(problem: GemmProblem) -> tuple[int, int, int]:
    return (8, 16, 32) if problem.dtype_a.is_integer else (8, 16, 16)


@pytest.mark.parametrize("name", WEIGHTS)
def test_products_of_decoded_weights_are_right(name: str) -> None:
    problem = WEIGHTS[name]
    which = WorkspaceOperands.BOTH if problem.k % 8 else WorkspaceOperands.B
    kernel = artifact(problem, which)
    assert [step.kernel for step in kernel.launch.steps][-2:] == ["decode_b", "gemm"]
    assert kernel.launch.arguments[-1].name == "decoded_b"
    gemm = kernel.stage("xegpu").data.decode().split("gpu.func @gemm")[1]
    assert "%B_scale[" not in gemm
    proof = verify_by_simulation(kernel)
    assert proof.checked == proof.total


@pytest.mark.slow
@pytest.mark.parametrize("device", ["b580", "max1100"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_decoded_weights_are_right_in_machine_code_without_many_instructions(name: str, device: str) -> None:
    problem, spec = WEIGHTS[name], find(device)
    kernel = artifact(problem, WorkspaceOperands.BOTH if problem.k % 8 else WorkspaceOperands.B, device=device)
    native = compile_kernel(real_ocloc(), kernel, target_of(spec))
    report = next(report for report in native.reports if report.kernel == "decode_b")
    rows, columns = prepare_block(problem, problem.operands[1])
    assert report.instructions is not None
    assert report.spill_bytes == 0
    if memory_paths(problem, target_of(spec))["B"].by is AccessBy.BLOCK2D:
        assert report.instructions <= 20 * rows * columns / 32
    proof = verify_by_simulation(kernel, compiled=native.compiled)
    assert (proof.kind, proof.checked) == (ProofKind.MACHINE_CODE, proof.total)


@pytest.mark.parametrize("transposed", [False, True])
def test_only_what_sampled_tiles_read_is_copied(transposed: bool) -> None:
    problem = GemmProblem(333, 205, 77, transpose_a=transposed, transpose_b=transposed)
    _check_one_tile(artifact(problem, WorkspaceOperands.BOTH), (3, 5))


@pytest.mark.parametrize("gate", [None, Gate(Activation.SILU), Gate(Activation.SILU, 16)])
def test_only_what_sampled_tiles_read_is_decoded(gate: Gate | None) -> None:
    problem = GemmProblem(120, 208, 96, dtype_b=DType.U4, quantization=Quantization(32), gate=gate)
    _check_one_tile(artifact(problem, WorkspaceOperands.B), (2, 5))


def _check_one_tile(kernel: GemmArtifact, tile: tuple[int, int]) -> None:
    """Check that one tile of C is as in a whole launch, with fewer instructions, and no others are written."""
    problem, (row, column) = kernel.problem, tile
    reference = Reference(problem, 1)
    buffers, every = reference.buffers(), reference.buffers()
    run, code = dict[str, int](), kernel.stage("llvm").data.decode()

    def execute(
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Sequence[Value],
        *,
        only: Sequence[int] | None = None,
        time_limit_s: float | None = None,
    ) -> SimulationReport:
        run[kernel] = prod(grid) if only is None else len(only)
        return run_kernel(code, kernel, grid, block, args, only=only)

    assert run_launch(kernel, buffers, only=[(0, *tile)], execute=execute).tiles == {(0, *tile)}
    run_launch(kernel, every)
    assert all(run[step.kernel] < prod(step.groups) / 2 for step in kernel.launch.steps)
    some, whole = (matrices(found[2], problem.c, 1)[0] for found in (buffers, every))
    at = slice(32 * row, 32 * row + 32), slice(32 * column, 32 * column + 32)
    np.testing.assert_array_equal(some[at], whole[at])
    assert np.isnan(some[: 32 * row]).all()


@pytest.mark.parametrize(
    ("which", "a", "b"),
    [
        (WorkspaceOperands.NONE, AccessBy.LANES, AccessBy.BLOCK2D),
        (WorkspaceOperands.A, AccessBy.COPIED, AccessBy.BLOCK2D),
        (WorkspaceOperands.BOTH, AccessBy.COPIED, AccessBy.DECODED),
    ],
)
def test_paths_of_operands_are_those_of_the_configuration(which: WorkspaceOperands, a: AccessBy, b: AccessBy) -> None:
    problem = GemmProblem(51, 80, 83, dtype_b=DType.E4M3)
    made = artifact(problem, which)
    paths = made.memory_paths
    assert (paths["A"].by, paths["A"].rule, paths["B"].by) == (a, "block2d-width", b)
    assert artifact_from_json(artifact_to_json(made), made.key, problem, made.config, B580).memory_paths == paths
    said = "\n".join(launch_lines(manifest(made)))
    assert ("2-D blocks of a copy, block2d-width: rows of A" in said) is which.has_a
    assert ("B by 2-D blocks of what is decoded before" in said) is which.has_b


def test_a_workspace_has_whole_lines() -> None:
    problem = replace(ODD, batch=3, batch_stride_b=0)
    a, b = problem.operands[:2]
    assert [in_workspace(problem, operand).pitch for operand in (a, b)] == [96, 96]
    assert prepare_groups(problem, a) == (3, 2, 3)
    assert prepare_groups(problem, b) == (3, 3, 1)


def test_decoded_weights_are_stored_by_rows_of_columns() -> None:
    problem = replace(WEIGHTS["u4 with zero points"], transpose_b=True, ldb=12, batch_stride_b=12 * 77)
    made = in_workspace(problem, problem.operands[1])
    assert (made.dtype, made.axes, made.rows, made.pitch) == (DType.F16, ("k", "n"), 96, 96)
    assert prepare_block(problem, problem.operands[1]) == (16, 32)  # rows of one group of 48
    assert prepare_groups(problem, problem.operands[1]) == (3, 6, 2)


def test_a_space_has_both_ways() -> None:
    space = xe_space(GemmProblem(7, 17, 33), B580)
    axis = next(axis for axis in space.axes if axis.name == "workspace")
    assert axis.values == ("none", "both")


def test_a_configuration_by_blocks_becomes_one_with_copies() -> None:
    aligned = GemmProblem(51, 80, 96)
    config = default_config(aligned, B580)
    assert config.strategy.workspace is WorkspaceOperands.NONE
    copied = adapt(config, aligned, ODD, B580)
    assert copied.strategy.workspace is WorkspaceOperands.BOTH
    assert adapt(copied, ODD, aligned, B580).strategy.workspace is WorkspaceOperands.NONE


def test_an_adapted_configuration_decodes_as_before() -> None:
    one, other = (GemmProblem(m, 96, 160, dtype_b=DType.S8) for m in (40, 72))
    for which in (WorkspaceOperands.NONE, WorkspaceOperands.B):
        config = artifact(one, which).config
        assert adapt(config, one, other, B580).strategy.workspace is which
