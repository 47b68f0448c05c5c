"""Proof of numbers: right results pass, each planted fault is caught and located."""

from collections.abc import Callable

import numpy as np
import pytest

from codegen import DType, GemmArtifact, GemmProblem
from hal import Buffer
from tests.tuner.fakes import artifact_of, emulated, multiply
from tuner.errors import ProofFailed, TooLargeToProve
from tuner.heuristic import default_config
from tuner.reference import Reference, decode, encode
from tuner.trial import ProofKind
from tuner.verify import compare

PROBLEM = GemmProblem(72, 104, 416, ldc=120)
Fault = Callable[[Buffer, Buffer, Buffer], None]


def _artifact(problem: GemmProblem) -> GemmArtifact:
    return artifact_of(problem, default_config(problem, emulated()))


@pytest.mark.parametrize("k", [32, 416, 8192])
@pytest.mark.parametrize(
    ("inputs", "output"),
    [(DType.F16, DType.F32), (DType.F16, DType.F16), (DType.BF16, DType.F32), (DType.BF16, DType.BF16)],
)
def test_a_right_result_passes(inputs: DType, output: DType, k: int) -> None:
    problem = GemmProblem(40, 64, k, dtype_a=inputs, dtype_b=inputs, dtype_c=output, lda=k + 8)
    reference = Reference(problem, 7)
    proof = compare(_artifact(problem), reference, multiply(problem, *reference.buffers()), ProofKind.OPENCL_CPU)
    assert proof.checked == proof.total > 0
    assert proof.max_error is not None
    assert proof.tolerance is not None
    assert 0 < proof.max_error <= proof.tolerance < 0.02


def _lost_k_step(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[8:16, 16:32] -= (a[8:16, 96:112].astype(np.float32) @ b[96:112, 16:32].astype(np.float32)).astype(c.dtype)


def _doubled_k_step(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[:, :104] += a[:, :16].astype(np.float32) @ b[:16, :104].astype(np.float32)


def _one_element(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[71, 103] += 1e-3


def _swapped_rows(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[[3, 4]] = c[[4, 3]]


def _swapped_columns(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[:, [30, 31]] = c[:, [31, 30]]


def _shifted(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[1:, :104] = c[:-1, :104].copy()


def _vnni_order(a: Buffer, b: Buffer, c: Buffer) -> None:
    swapped = b[:, :104].reshape(-1, 2, 104)[:, ::-1].reshape(-1, 104)
    c[:, :104] = a.astype(np.float32) @ swapped.astype(np.float32)


def _unwritten_edge(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[64:, 96:104] = np.nan


def _zeros(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[32:64, 32:64] = 0


def _beyond_the_row(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[5, 104] = 0


def _infinite(a: Buffer, b: Buffer, c: Buffer) -> None:
    c[0, 0] = np.inf


FAULTS: dict[Fault, str] = {
    _lost_k_step: r"C\[8, 1\d\] is ",
    _doubled_k_step: r"C\[0, \d\] is ",
    _one_element: r"C\[71, 103\] is .* 1 elements are wrong, the largest error is 0.001",
    _swapped_rows: r"C\[3, 0\] is ",
    _swapped_columns: r"C\[0, 30\] is ",
    _shifted: r"C\[1, 0\] is ",
    _vnni_order: r"C\[0, 0\] is ",
    _unwritten_edge: r"C\[64, 96\] is not written",
    _zeros: r"C\[32, 32\] is 0, ",
    _beyond_the_row: "between the rows of C, beyond column 103",
    _infinite: r"C\[0, 0\] is inf",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_caught(fault: Fault) -> None:
    reference = Reference(PROBLEM, 3)
    a, b, c = reference.buffers()
    output = multiply(PROBLEM, a, b, c)
    fault(a, b, output)
    with pytest.raises(ProofFailed, match=FAULTS[fault]) as caught:
        compare(_artifact(PROBLEM), reference, output, ProofKind.SIMULATOR)
    assert caught.value.proof.tolerance is not None
    assert caught.value.proof.kind is ProofKind.SIMULATOR


def test_of_a_sample_each_work_group_must_write_its_tile() -> None:
    reference, artifact = Reference(PROBLEM, 3), _artifact(PROBLEM)
    block = artifact.config.matmul.block
    assert PROBLEM.m > block.m
    whole = multiply(PROBLEM, *reference.buffers())
    output = reference.buffers()[2]
    output[: block.m, : block.n] = whole[: block.m, : block.n]
    proof = compare(artifact, reference, output, ProofKind.SIMULATOR, executed=1)
    assert (proof.checked, proof.total) == (1, -(-PROBLEM.m // block.m) * -(-PROBLEM.n // block.n))
    with pytest.raises(ProofFailed, match="2 work-groups ran and 1 tiles of C were written"):
        compare(artifact, reference, output, ProofKind.SIMULATOR, executed=2)
    output[0, 0] = np.nan
    with pytest.raises(ProofFailed, match="not written"):
        compare(artifact, reference, output, ProofKind.SIMULATOR, executed=1)


def test_inputs_follow_from_the_seed_and_fill_only_the_matrix() -> None:
    problem = GemmProblem(40, 64, 96, lda=112)
    first, again, other = (Reference(problem, seed).a for seed in (1, 1, 2))
    assert np.array_equal(first, again, equal_nan=True)
    assert not np.array_equal(first, other, equal_nan=True)
    assert np.isnan(first[:, 96:]).all()
    # 2 ** -3 is the power of two next to 1 / sqrt(96).
    assert 0 < np.abs(first[:, :96]).max() <= 2**-3


def test_bf16_rounds_to_nearest_even() -> None:
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -(2.0**-130), np.nan], dtype=np.float32)
    rounded = decode(encode(values, DType.BF16), DType.BF16)
    assert rounded[:4].tolist() == [1.0, 1.0, 1 + 4 * 2**-8, -(2.0**-130)]
    assert np.isnan(rounded[4])


def test_one_k_left_out_of_very_many_is_caught() -> None:
    problem = GemmProblem(24, 32, 65_536)
    reference = Reference(problem, 5)
    a, b, c = reference.buffers()
    output = multiply(problem, a, b, c)
    compare(_artifact(problem), reference, output, ProofKind.SIMULATOR)
    output -= a[:, -1:].astype(np.float32) @ b[-1:].astype(np.float32)
    with pytest.raises(ProofFailed):
        compare(_artifact(problem), reference, output, ProofKind.SIMULATOR)


def test_inputs_cannot_be_written() -> None:
    a, b, c = Reference(PROBLEM, 3).buffers()
    assert [buffer.flags.writeable for buffer in (a, b, c)] == [False, False, True]


def test_a_problem_that_memory_does_not_hold_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(TooLargeToProve, match="GiB are free here"):
        Reference(GemmProblem(2**20, 2**20, 64), 0)
