"""Freivalds' check: right products pass, and what a sample of tiles does not hold is found by sums of all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.problem.quantization import parse_quantization
from hal import Buffer
from tests.tuner.fakes import artifact_of, emulated
from tests.tuner.numpy_gemm import computed
from tuner.errors import ProofFailed
from tuner.session.trial import (
    Proof,
    ProofKind,
    ProofMethod,
)
from tuner.space.xe.heuristic import default_config
from tuner.verify.freivalds import (
    GROUP,
    is_applicable,
)
from tuner.verify.memory_layout import matrices
from tuner.verify.reference import Reference
from tuner.verify.verify import compare

PROBLEM = GemmProblem(200, 2 * GROUP + 40, 72)
HALF = EpilogueStep(EpilogueKind.ALPHA, 0.375)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every problem count as too large to compare all its elements."""
    for module in ("verify", "reference"):
        monkeypatch.setattr(f"tuner.verify.{module}.WHOLE_MULTIPLY_ADDS", 2**10)


def _proof(problem: GemmProblem, fault: Callable[[Buffer], None] = lambda _: None, seed: int = 3) -> Proof:
    reference = Reference(problem, seed)
    outputs = computed(problem, reference.buffers())
    fault(matrices(outputs[2].reshape(-1), problem.c, problem.batch))
    artifact = artifact_of(problem, default_config(problem, emulated()))
    return compare(artifact, reference, outputs, ProofKind.DEVICE)


@pytest.mark.parametrize("inputs", [DType.F16, DType.BF16, DType.F32, DType.S8])
@pytest.mark.parametrize("k", [72, pytest.param(1032, marks=pytest.mark.slow)])
def test_right_products_pass(inputs: DType, k: int) -> None:
    outputs = (DType.I32, DType.F32) if inputs is DType.S8 else (DType.F32, DType.F16, DType.BF16)
    for output in outputs:
        problem = GemmProblem(40, GROUP + 40, k, dtype_a=inputs, dtype_b=inputs, dtype_c=output, transpose_b=True)
        assert _proof(problem).method is ProofMethod.FREIVALDS


def test_a_scaled_product_and_batches_pass() -> None:
    assert _proof(GemmProblem(88, 200, 72, epilogue=(HALF,))).method is ProofMethod.FREIVALDS
    assert _proof(GemmProblem(88, 200, 72, batch=3)).method is ProofMethod.FREIVALDS


@pytest.mark.parametrize(
    "output", [DType.F32, *(pytest.param(output, marks=pytest.mark.slow) for output in (DType.F16, DType.BF16))]
)
def test_a_part_of_one_row_that_no_sampled_tile_holds_is_found(output: DType) -> None:
    problem = GemmProblem(520, 2048, 24, dtype_c=output)

    def stale(c: Buffer) -> None:
        c[0, 300, 1280:1312] = c[0, 301, 1280:1312]  # the right numbers of the row below

    proof = _proof(problem)
    assert proof.checked < proof.total
    with pytest.raises(ProofFailed, match=r"C\[300, 1280:1408\] is wrong somewhere: added with random signs it is"):
        _proof(problem, stale)


def test_of_integers_one_that_is_off_by_one_is_found() -> None:
    problem = GemmProblem(520, 2048, 24, dtype_a=DType.S8, dtype_b=DType.S8, batch=2)

    def off_by_one(c: Buffer) -> None:
        c[1, 300, 1290] += 1

    with pytest.raises(ProofFailed, match=r"C\[1, 300, 1280:1408\] is wrong somewhere"):
        _proof(problem, off_by_one)


@pytest.mark.parametrize("value", [np.inf, np.nan, -np.inf])
@pytest.mark.parametrize("output", [DType.F32, DType.F16])
def test_what_is_no_number_is_found(output: DType, value: float) -> None:
    def spoil(c: Buffer) -> None:
        c[0, 300, 1290] = value

    with pytest.raises(ProofFailed, match=r"C\[300, 1280:1408\] is wrong"):
        _proof(GemmProblem(520, 2048, 24, dtype_c=output), spoil)


def test_two_faults_that_cancel_in_a_plain_sum_are_found() -> None:
    def swap(c: NDArray[Any]) -> None:
        c[0, 300, [1281, 1290]] += np.array([40, -40], np.float32)

    for seed in range(6):  # with equal signs, of one in two seeds, they do cancel
        try:
            _proof(GemmProblem(520, 2048, 24), swap, seed)
        except ProofFailed:
            return
    pytest.fail("no signs told them apart")


@pytest.mark.parametrize(
    ("problem", "applicable"),
    [
        (PROBLEM, True),
        (GemmProblem(88, 200, 72, epilogue=(HALF,)), True),
        (GemmProblem(88, 200, 72, epilogue=(EpilogueStep(EpilogueKind.RELU),)), False),
        (GemmProblem(88, 200, 72, epilogue=(EpilogueStep(EpilogueKind.BETA, 0.5),)), False),
        (GemmProblem(88, 200, 72, dtype_a=DType.S8, dtype_b=DType.S8, dtype_c=DType.S8), False),
        (GemmProblem(88, 200, 72, dtype_c=DType.F16, epilogue=(EpilogueStep(EpilogueKind.ALPHA, 1e6),)), True),
        (GemmProblem(88, 200, 72, dtype_c=DType.F16, epilogue=(EpilogueStep(EpilogueKind.ALPHA, 1e7),)), False),
    ],
)
def test_it_is_for_multiples_of_the_product(problem: GemmProblem, applicable: bool) -> None:
    assert is_applicable(problem) is applicable
    if not applicable:
        assert _proof(problem).method is ProofMethod.ELEMENTS


def test_of_weights_it_is_for_the_factors_up_to_which_f16_holds_the_products() -> None:
    for alpha, applicable in ((2.0**14, True), (2.0**15, False)):
        epilogue, scales = (EpilogueStep(EpilogueKind.ALPHA, alpha),), parse_quantization("32")
        problem = GemmProblem(88, 200, 72, dtype_b=DType.U8, dtype_c=DType.F16, epilogue=epilogue, quantization=scales)
        assert is_applicable(problem) is applicable
