"""Proof of numbers: right results pass, each planted fault is caught and located."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import Axis, DType, EpilogueKind, EpilogueStep, Extent, GemmArtifact, GemmProblem
from codegen.artifact.workgroup_tiles import Tile
from codegen.xe.isa import Compiled
from codegen.xe.isa.ocloc import Disassembly
from hal import Buffer
from tests.tuner.fakes import artifact_of, emulated
from tests.tuner.numpy_gemm import computed
from tuner.errors import ProofFailed
from tuner.session.trial import (
    Proof,
    ProofKind,
)
from tuner.space.xe.heuristic import default_config
from tuner.verify.memory_layout import matrices
from tuner.verify.reference import Reference
from tuner.verify.verify import compare, verify_by_simulation

PROBLEM = GemmProblem(72, 104, 416, ldc=120)
Array = NDArray[Any]
Fault = Callable[[Array, Array, Array], None]
CONFIG = default_config(PROBLEM, emulated())


def _artifact(problem: GemmProblem, block: tuple[int, int] | None = None) -> GemmArtifact:
    """In tiles of `block`, each of a work-group of its own."""
    m, n = block or (CONFIG.matmul.block.m, CONFIG.matmul.block.n)
    threads = Extent(-(-problem.m // m), -(-problem.n // n), 1)
    matmul = replace(CONFIG.matmul, block=Extent(m, n, CONFIG.matmul.block.k), threads=threads)
    made = artifact_of(problem, replace(CONFIG, matmul=matmul))
    assert isinstance(made, GemmArtifact)
    return made


def _proof(
    problem: GemmProblem,
    fault: Callable[[dict[int, Array]], object] = lambda _: None,
    tiles: Collection[Tile] | None = None,
    block: tuple[int, int] | None = None,
) -> Proof:
    """Of a right result that `fault` spoils: it is given the matrices of each output by its place."""
    reference = Reference(problem, 3)
    outputs = computed(problem, reference.buffers())
    fault({i: matrices(memory, problem.operands[i], problem.batch) for i, memory in outputs.items()})
    return compare(_artifact(problem, block), reference, outputs, ProofKind.SIMULATOR, tiles)


def test_a_proof_says_what_of_the_machine_code_is_not_represented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuner.verify.verify._simulated", lambda _a, _r, kind, *_: Proof(kind, 6, 6, 0.0, 1.0))
    artifact = _artifact(PROBLEM)
    unread = Compiled(b"no binary", Disassembly("", {}), 64)
    proof = verify_by_simulation(artifact, compiled=unread)
    assert (proof.kind, str(proof.refusal)[:20]) == (ProofKind.SIMULATOR, "machine code refused")
    assert verify_by_simulation(artifact).refusal is None


@pytest.mark.parametrize("k", [32, 416, 8192])
@pytest.mark.parametrize(
    ("inputs", "output"),
    [(DType.F16, DType.F32), (DType.F16, DType.F16), (DType.BF16, DType.F32), (DType.BF16, DType.BF16)],
)
def test_a_right_result_passes(inputs: DType, output: DType, k: int) -> None:
    proof = _proof(GemmProblem(40, 64, k, dtype_a=inputs, dtype_b=inputs, dtype_c=output, lda=k + 8))
    assert proof.checked == proof.total > 0
    assert proof.max_error is not None
    assert proof.tolerance is not None
    assert 0 < proof.max_error <= proof.tolerance < 0.02


def _lost_k_step(a: Array, b: Array, c: Array) -> None:
    c[8:16, 16:32] -= (a[8:16, 96:112].astype(np.float32) @ b[96:112, 16:32].astype(np.float32)).astype(c.dtype)


def _doubled_k_step(a: Array, b: Array, c: Array) -> None:
    c += a[:, :16].astype(np.float32) @ b[:16].astype(np.float32)


def _one_element(a: Array, b: Array, c: Array) -> None:
    c[71, 103] += 1e-3


def _swapped_rows(a: Array, b: Array, c: Array) -> None:
    c[[3, 4]] = c[[4, 3]]


def _swapped_columns(a: Array, b: Array, c: Array) -> None:
    c[:, [30, 31]] = c[:, [31, 30]]


def _shifted(a: Array, b: Array, c: Array) -> None:
    c[1:] = c[:-1].copy()


def _vnni_order(a: Array, b: Array, c: Array) -> None:
    swapped = b.reshape(-1, 2, 104)[:, ::-1].reshape(-1, 104)
    c[...] = a.astype(np.float32) @ swapped.astype(np.float32)


def _zeros(a: Array, b: Array, c: Array) -> None:
    c[32:64, 32:64] = 0


def _infinite(a: Array, b: Array, c: Array) -> None:
    c[0, 0] = np.inf


def _not_a_number(a: Array, b: Array, c: Array) -> None:
    c[7, 9] = np.nan


FAULTS: dict[Fault, str] = {
    _lost_k_step: r"C\[8, 1\d\] is ",
    _doubled_k_step: r"C\[0, \d\] is ",
    _one_element: r"C\[71, 103\] is .* 1 elements are wrong, the largest error is 0.001",
    _swapped_rows: r"C\[3, 0\] is ",
    _swapped_columns: r"C\[0, 30\] is ",
    _shifted: r"C\[1, 0\] is ",
    _vnni_order: r"C\[0, 0\] is ",
    _zeros: r"C\[32, 32\] is 0, ",
    _infinite: r"C\[0, 0\] is inf",
    _not_a_number: r"C\[7, 9\] is nan, expected",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_caught(fault: Fault) -> None:
    a, b = (
        matrices(buffer, operand, 1)[0]
        for buffer, operand in zip(Reference(PROBLEM, 3).buffers()[:2], PROBLEM.operands, strict=False)
    )
    with pytest.raises(ProofFailed, match=FAULTS[fault]) as caught:
        _proof(PROBLEM, lambda outputs: fault(a, b, outputs[2][0]))
    assert caught.value.proof.tolerance is not None
    assert caught.value.proof.kind is ProofKind.SIMULATOR


def test_one_k_left_out_of_very_many_is_caught() -> None:
    problem = GemmProblem(24, 32, 16_384)
    a, b = Reference(problem, 3).buffers()[:2]
    _proof(problem)

    def without_the_last(outputs: dict[int, Array]) -> None:
        last = a.reshape(24, -1)[:, -1:].astype(np.float32) @ b.reshape(-1, 32)[-1:].astype(np.float32)
        outputs[2] -= last

    with pytest.raises(ProofFailed):
        _proof(problem, without_the_last)


def test_results_that_their_type_cannot_hold_have_no_part_in_the_largest_error() -> None:
    problem = GemmProblem(40, 64, 96, dtype_c=DType.F16, epilogue=(EpilogueStep(EpilogueKind.ALPHA, 1e9),))
    proof = _proof(problem)
    assert proof.max_error is not None
    assert proof.tolerance is not None
    assert proof.max_error <= proof.tolerance
    with pytest.raises(ProofFailed, match=r"C\[0, 0\] is -inf, expected"):
        _proof(problem, lambda outputs: np.negative(outputs[2], out=outputs[2]))


def _spoilt(outputs: dict[int, Array], place: int, where: tuple[int, int, int], by: float) -> None:
    outputs[place][where] += np.asarray(by).astype(outputs[place].dtype)


ROWS, COLUMNS = (EpilogueStep(EpilogueKind.REDUCE, axis=axis) for axis in (Axis.ROW, Axis.COLUMN))
ALL = (
    EpilogueStep(EpilogueKind.ALPHA, value=0.75),
    EpilogueStep(EpilogueKind.BETA, value=0.5),
    EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),
    EpilogueStep(EpilogueKind.ADD, dtype=DType.F16, ld=112),
    ROWS,
    EpilogueStep(EpilogueKind.GELU),
    EpilogueStep(EpilogueKind.MULTIPLY),
    COLUMNS,
)
BATCHED = GemmProblem(
    40, 104, 72, batch=3, transpose_a=True, batch_stride_b=0, ldc=112, batch_stride_c=5000, epilogue=ALL
)


def test_all_outputs_are_compared() -> None:
    assert [o.name for o in BATCHED.operands] == ["A", "B", "C", "bias", "add", "reduce", "multiply", "reduce2"]
    proof = _proof(BATCHED)
    assert proof.checked == proof.total
    assert proof.total % 3 == 0


@pytest.mark.parametrize(
    ("place", "where", "message"),
    [
        (2, (1, 39, 103), r"C\[1, 39, 103\] is .*expected .* within"),
        (5, (2, 17, 0), r"reduce\[2, 17\] is .*expected .* within"),
        (7, (0, 0, 101), r"reduce2\[0, 101\] is .*expected .* within"),
    ],
)
def test_a_fault_in_any_output_is_located(place: int, where: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ProofFailed, match=message):
        _proof(BATCHED, lambda outputs: _spoilt(outputs, place, where, 0.1))


@pytest.mark.parametrize("output", [DType.F32, DType.BF16])
def test_what_is_not_written_is_said(output: DType) -> None:
    def unwritten(outputs: dict[int, Array]) -> None:
        reference = Reference(problem, 3).buffers()[2]
        outputs[2][0, 64:, 96:] = matrices(reference, problem.c, 1)[0, 64:, 96:]

    problem = GemmProblem(72, 104, 136, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=output, ldc=120)
    with pytest.raises(ProofFailed, match=r"C\[64, 96\] is not written; 64 elements"):
        _proof(problem, unwritten)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            GemmProblem(24, 40, 56, dtype_a=DType.S8, dtype_b=DType.U8, dtype_c=DType.S8),
            r"C\[3, 4\] is -91, which is what memory held that is not written, expected ",
        ),
        (
            GemmProblem(24, 40, 56, epilogue=(EpilogueStep(EpilogueKind.BETA, value=2.0),)),
            r"C\[3, 4\] is \S+ as before the launch, expected",
        ),
    ],
    ids=["integers", "updated"],
)
def test_what_looks_not_written_is_said(problem: GemmProblem, message: str) -> None:
    def unwritten(outputs: dict[int, Array]) -> None:
        outputs[2][0, 3, 4] = Reference(problem, 3).buffers()[2].reshape(24, 40)[3, 4]

    with pytest.raises(ProofFailed, match=message):
        _proof(problem, unwritten)


@pytest.mark.parametrize("dtype", [DType.F16, DType.S8])
@pytest.mark.parametrize(
    ("where", "message"),
    [(104, "between the rows of C, beyond column 103"), (72 * 120 + 3, "beyond column 103 or between matrices")],
)
def test_nothing_is_written_outside_of_a_matrix(dtype: DType, where: int, message: str) -> None:
    p = GemmProblem(72, 104, 56, batch=2, dtype_a=dtype, dtype_b=dtype, ldc=120, batch_stride_c=72 * 120 + 8)
    reference = Reference(p, 3)
    outputs = computed(p, reference.buffers())
    outputs[2][where] = 1
    with pytest.raises(ProofFailed, match=message):
        compare(_artifact(p), reference, outputs, ProofKind.OPENCL_CPU)


def test_of_a_sample_its_tiles_are_compared_and_no_others_may_be_written() -> None:
    block, tiles = (32, 64), {(0, 1, 1), (0, 2, 0)}
    reference = Reference(PROBLEM, 3)
    right = matrices(computed(PROBLEM, reference.buffers())[2], PROBLEM.c, 1)[0]

    def only(*written: tuple[int, int]) -> Callable[[dict[int, Buffer]], None]:
        def fault(outputs: dict[int, Array]) -> None:
            outputs[2][0] = matrices(reference.buffers()[2], PROBLEM.c, 1)[0]
            for row, column in written:
                part = slice(row * 32, row * 32 + 32), slice(column * 64, column * 64 + 64)
                outputs[2][0][part] = right[part]

        return fault

    proof = _proof(PROBLEM, only((1, 1), (2, 0)), tiles, block)
    assert (proof.checked, proof.total) == (2, 6)
    with pytest.raises(ProofFailed, match=r"C\[64, 0\] is not written"):
        _proof(PROBLEM, only((1, 1)), tiles, block)
    with pytest.raises(ProofFailed, match=r"the tile of C from C\[0, 64\] on was written"):
        _proof(PROBLEM, only((1, 1), (2, 0), (0, 1)), tiles, block)


def test_of_a_sample_those_sums_are_compared_whose_tiles_are_all_there() -> None:
    problem, row = GemmProblem(72, 104, 56, epilogue=(ROWS, COLUMNS)), {(0, 1, 0), (0, 1, 1)}

    def sampled(outputs: dict[int, Array], line: int) -> None:
        before = [matrices(b, o, 1) for b, o in zip(Reference(problem, 3).buffers(), problem.operands, strict=True)]
        for part in (slice(0, 32), slice(64, 72)):
            outputs[2][0, part] = before[2][0, part]
            outputs[3][0, part] = np.nan  # sums of what was not computed
        outputs[4][...] = np.nan
        outputs[3][0, line] += 0.01

    _proof(problem, lambda outputs: sampled(outputs, 3), row, (32, 64))
    with pytest.raises(ProofFailed, match=r"reduce\[40\] is "):
        _proof(problem, lambda outputs: sampled(outputs, 40), row, (32, 64))


@pytest.mark.parametrize("dtype", [DType.F16, DType.S8])
def test_of_a_large_result_a_sample_is_compared_and_all_must_be_written(
    dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuner.verify.verify.WHOLE_MULTIPLY_ADDS", 2**16)
    monkeypatch.setattr("tuner.verify.reference.WHOLE_MULTIPLY_ADDS", 2**16)
    problem = GemmProblem(200, 264, 56, dtype_a=dtype, dtype_b=dtype, epilogue=(ROWS,))

    def unwritten(outputs: dict[int, Array]) -> None:
        before = Reference(problem, 3).buffers()[2].reshape(200, 264)
        outputs[2][0, 32:64, 32:64] = before[32:64, 32:64]

    poison = Reference(problem, 3).buffers()[3][100]
    proof = _proof(problem, block=(32, 32))
    assert (proof.checked, proof.total) == (9, 63)
    with pytest.raises(ProofFailed, match=r"C\[32, 32\] is not written"):
        _proof(problem, unwritten, block=(32, 32))
    if dtype is DType.F16:
        with pytest.raises(ProofFailed, match="some of reduce is not written"):
            _proof(problem, lambda outputs: outputs[3].__setitem__((0, 100), poison), block=(32, 32))
    with pytest.raises(ProofFailed, match=r"reduce\[199\] is "):
        _proof(
            problem, lambda outputs: _spoilt(outputs, 3, (0, 199, 0), 0.1 if dtype is DType.F16 else 1), None, (32, 32)
        )
