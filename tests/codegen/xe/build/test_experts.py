"""Kernels of several experts: each row is multiplied by its own expert's B, whatever the offsets in memory say."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Extent, Gate, GemmProblem, compile_gemm
from codegen.problem.dtype import WEIGHTS
from codegen.problem.experts import offsets
from codegen.problem.gemm import OFFSETS
from codegen.problem.quantization import Quantization
from codegen.simulate.run_gemm import run_launch
from codegen.target import target_of
from codegen.xe.isa import compile_kernel
from hal import DeviceSpec, find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tuner import ProofKind
from tuner.space.xe.heuristic import default_config
from tuner.verify.memory_layout import decode, is_poison
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_by_simulation

PLAIN = (DType.F16, DType.BF16, DType.TF32, DType.F32, DType.S8)
DEVICES = ("b580", "pvc", "b580", "pvc", "a770", "arl-h")
STEPS = (
    EpilogueStep(EpilogueKind.ALPHA, value=0.5),
    EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),
    EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN, dtype=DType.F16),
    EpilogueStep(EpilogueKind.SCALE, axis=Axis.ROW),
    EpilogueStep(EpilogueKind.SCALE, axis=Axis.COLUMN),
    EpilogueStep(EpilogueKind.SILU),
    EpilogueStep(EpilogueKind.MULTIPLY),
    EpilogueStep(EpilogueKind.BETA, value=0.5),
)
DRAWS, PART = 100, 20


def drawn(seed: int) -> tuple[GemmProblem, DeviceSpec]:
    """Draw a problem of experts, with plain or quantised weights, and a GPU."""
    rng = Random(seed)
    a = rng.choice(PLAIN)
    b, quantization = a, None
    if rng.random() < 0.5:
        a, b = rng.choice((DType.F16, DType.BF16)), rng.choice(WEIGHTS)
        if rng.random() < 0.75:
            zeros = b in (DType.U4, DType.U8) and rng.random() < 0.4
            quantization = Quantization(rng.choice((None, 32, 64)), rng.choice((DType.F16, DType.F32)), 0, zeros)
    n = rng.choice((16, 48, 80, 100, 160))
    problem = GemmProblem(
        rng.choice((1, 5, 33, 96, 200)),
        n,
        rng.choice((40, 72, 128, 256)),
        dtype_a=a,
        dtype_b=b,
        dtype_c=rng.choice((None, DType.F16, DType.BF16)),  # pyright: ignore[reportArgumentType]
        transpose_b=rng.random() < 0.6,
        ldc=rng.choice((None, None, n + 16)),
        epilogue=tuple(rng.sample(STEPS, rng.choice((0, 0, 1, 2)))),
        gate=Gate(rng.choice(list(Activation)), rng.choice((None, 1))) if rng.random() < 0.3 else None,
        quantization=quantization,
        experts=rng.choice((1, 2, 3, 8, 17, 24)),
    )
    return problem, find(rng.choice(DEVICES if a is not DType.TF32 else DEVICES[:2]))


@pytest.mark.parametrize("seed", range(900, 905))
def test_a_drawn_problem(seed: int) -> None:
    problem, spec = drawn(seed)
    proof = verify_by_simulation(compile_gemm(problem, default_config(problem, spec), spec))
    assert proof.checked == proof.total


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_drawn_problems_by_their_machine_code(first: int) -> None:
    for seed in range(first, first + PART):
        problem, spec = drawn(seed)
        artifact = compile_gemm(problem, default_config(problem, spec), spec)
        compiled = compile_kernel(real_ocloc(), artifact, target_of(spec)).compiled
        proof = verify_by_simulation(artifact, compiled=compiled)
        assert (proof.kind, proof.checked) == (ProofKind.MACHINE_CODE, proof.total), problem


ROWS = (
    (0,) * 11,
    (60, *(0,) * 10),
    (*(0,) * 10, 60),
    (0, 1, 17, 0, 16, 0, 0, 9, 0, 0, 2),
    (7, 8, 9, 1, 1, 4, 4, 4, 4, 4, 4),
    (*(0,) * 8, 33, 1, 0),
)


@pytest.mark.parametrize("order", ["pmpn", "pnpm"])
@pytest.mark.parametrize("groups", [(1, 1), (4, 2)])
def test_offsets_of_a_launch_say_whose_rows_are_whose(order: str, groups: tuple[int, int]) -> None:
    """Rows beyond the last expert's are not written."""
    problem = GemmProblem(60, 80, 64, transpose_b=True, experts=11)
    config = default_config(problem, find("b580"))
    matmul = replace(config.matmul, threads=Extent(*groups, 1))
    walk = next(each for each in type(matmul.loop_order) if each.value.startswith(order))
    artifact = compile_gemm(problem, replace(config, matmul=replace(matmul, loop_order=walk)), find("b580"))
    number = next(place for place, operand in enumerate(problem.operands) if operand.name == OFFSETS)
    for rows in ROWS:
        buffers = list(Reference(problem, seed=3).buffers())
        buffers[number] = np.array(offsets(rows), np.int32)
        run_launch(artifact, buffers)
        a, b, c = (decode(each, o.dtype) for each, o in zip(buffers, problem.operands[:3], strict=False))
        a, b, c = a.reshape(60, 64), b.reshape(11, 80, 64), c.reshape(60, 80)
        for expert, first in enumerate(offsets(rows)[:-1]):
            of_expert = slice(first, first + rows[expert])
            np.testing.assert_allclose(c[of_expert], a[of_expert] @ b[expert].T, atol=1e-4)
        assert is_poison(buffers[2].reshape(60, 80)[sum(rows) :], DType.F32).all()
