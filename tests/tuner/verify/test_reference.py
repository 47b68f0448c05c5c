"""Random operands and expected results of a problem: layouts, poison, sizes, and exact outputs."""

import resource
from dataclasses import replace

import numpy as np
import pytest

from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Extent, Gate, GemmProblem
from codegen.problem.quantization import Quantization, parse_quantization
from codegen.xe.rules import ceil_div
from hal import find
from tests.tuner.numpy_gemm import computed
from tuner.errors import TooLargeToProve
from tuner.space.xe.heuristic import default_config
from tuner.verify.memory_layout import (
    decode,
    is_poison,
    matrices,
    outside_is_poison,
)
from tuner.verify.reference import Reference
from tuner.verify.simulated_tiles import tiles_to_simulate

BIAS = EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN)
BETA = EpilogueStep(EpilogueKind.BETA, value=0.5)
PAIRS = [
    (DType.F16, DType.F32),
    (DType.F16, DType.F16),
    (DType.BF16, DType.BF16),
    (DType.TF32, DType.F32),
    (DType.F32, DType.F32),
    (DType.S8, DType.I32),
    (DType.S8, DType.S8),
    (DType.S8, DType.F16),
    (DType.U8, DType.U8),
    (DType.F16, DType.S8),
    (DType.S8, DType.BF16),
]


@pytest.mark.parametrize(("inputs", "output"), PAIRS)
@pytest.mark.parametrize("epilogue", [(), (BIAS,), (EpilogueStep(EpilogueKind.SCALE, axis=Axis.ROW), BETA)])
def test_f32_arithmetic_is_within_the_bounds_of_every_type(
    inputs: DType, output: DType, epilogue: tuple[EpilogueStep, ...]
) -> None:
    p = GemmProblem(40, 56, 104, dtype_a=inputs, dtype_b=inputs, dtype_c=output, epilogue=epilogue)
    reference = Reference(p, 1)
    got = decode(matrices(computed(p, reference.buffers())[2], p.c, 1), output)[0].astype(np.float64)
    bounds = reference.bounds_of_c(0, slice(0, 40), slice(0, 56))
    assert bounds.holds(got).all()
    assert not bounds.holds(got + (2 if output.is_integer else 0.05 * (1 + np.abs(got)))).any()
    if output.is_integer:
        assert np.unique(got).size > 20  # neither all saturated nor all zero
        assert (bounds.high - bounds.low <= 1).all()


@pytest.mark.parametrize("weights", [DType.BF16, DType.U4])
def test_sums_rounded_to_nearest_are_within_bounds_that_a_lost_product_exceeds(weights: DType) -> None:
    quantization = Quantization(128, DType.BF16, 8) if weights is DType.U4 else None
    p = GemmProblem(24, 40, 2048, dtype_a=DType.BF16, dtype_b=weights, dtype_c=DType.F32, quantization=quantization)
    reference, part = Reference(p, 1, sampled=True), (0, slice(0, 24), slice(0, 40))
    bounds = reference.bounds_of_c(*part)
    a = decode(matrices(reference.buffers()[0], p.operands[0], 1)[0], DType.BF16).astype(np.float32)
    b = reference._of_b(0, slice(0, 40), slice(0, p.k))
    got = np.zeros((24, 40), np.float32)
    for k in range(p.k):
        got += a[:, k, None] * b[None, k]
    assert bounds.holds(got.astype(np.float64)).all()
    lost = bounds.holds(bounds.value - a[:, 7, None] * b[None, 7].astype(np.float64))
    assert lost.mean() < 0.25
    assert 10 * bounds.widest < Reference(p, 1).bounds_of_c(*part).widest, "hardware may truncate"


GATES = [
    *(Gate(kind) for kind in Activation),
    Gate(Activation.SILU, 1),
    Gate(Activation.GELU, 4),
]


@pytest.mark.parametrize(("inputs", "output"), PAIRS)
@pytest.mark.parametrize("gate", GATES, ids=str)
def test_a_gate_in_f32_is_within_the_bounds_of_every_type(inputs: DType, output: DType, gate: Gate) -> None:
    p = GemmProblem(40, 56, 104, dtype_a=inputs, dtype_b=inputs, dtype_c=output, gate=gate, epilogue=(BIAS,))
    reference = Reference(p, 1)
    got = decode(matrices(computed(p, reference.buffers())[2], p.c, 1), output)[0].astype(np.float64)
    bounds = reference.bounds_of_c(0, slice(0, 40), slice(0, 56))
    assert bounds.holds(got).all()
    assert not bounds.holds(got + (2 if output.is_integer else 0.05 * (1 + np.abs(got)))).any()
    if output.is_integer and inputs is not DType.U8:  # sums of unsigned numbers are never negative
        assert np.unique(got).size > 20  # neither all saturated nor all zero


@pytest.mark.parametrize("gate", [Gate(Activation.SILU), Gate(Activation.SILU, 8)], ids=str)
def test_exchanged_products_of_a_gate_are_wrong(gate: Gate) -> None:
    p = GemmProblem(40, 56, 104, gate=gate)
    reference, block = Reference(p, 1), gate.interleave or p.n
    buffers = list(reference.buffers())
    b = buffers[1].reshape(p.k, p.n // block, 2, block)
    buffers[1] = b[:, :, ::-1].reshape(-1).copy()
    got = matrices(computed(p, tuple(buffers))[2], p.c, 1)[0].astype(np.float64)
    held = reference.bounds_of_c(0, slice(0, 40), slice(0, 56)).holds(got)
    assert held.mean() < 0.02


@pytest.mark.parametrize("gate", [Gate(Activation.GELU), Gate(Activation.GELU, 1), Gate(Activation.GELU, 16)], ids=str)
def test_a_part_of_a_gated_c_draws_its_columns_of_b_alone(gate: Gate) -> None:
    p = GemmProblem(24, 12_000, 40, gate=gate)
    parts = [(0, slice(3, 19), slice(7000, 7050))]
    few, whole = (Reference(p, 1, sampled=True) for _ in range(2))
    few.buffers(parts)
    whole.buffers()
    some, every = few.bounds_of_c(*parts[0]), whole.bounds_of_c(*parts[0])
    np.testing.assert_array_equal(some.value, every.value)
    np.testing.assert_array_equal(some.high, every.high)
    b = matrices(few.buffers(parts)[1], p.operands[1], 1)[0]
    assert 0 < (b == 0).all(0).mean() < 1, "columns far from those are not drawn"


@pytest.mark.parametrize("epilogue", [(), (BIAS,), (EpilogueStep(EpilogueKind.ALPHA, value=0.5), BETA)])
def test_a_quarter_of_float_sums_must_be_exact(epilogue: tuple[EpilogueStep, ...]) -> None:
    reference = Reference(GemmProblem(40, 56, 104, epilogue=epilogue), 1)
    bounds = reference.bounds_of_c(0, slice(3, 40), slice(2, 56))
    exact = bounds.low == bounds.high
    assert exact[1::2, ::2].all()
    assert exact.mean() < 0.3


def test_parts_are_parts_of_the_whole() -> None:
    steps = (EpilogueStep(EpilogueKind.ADD), EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW), BIAS)
    p = GemmProblem(40, 56, 24, batch=2, transpose_b=True, epilogue=steps)
    reference = Reference(p, 1)
    whole = reference.bounds_of_c(1, slice(0, 40), slice(0, 56))
    part = reference.bounds_of_c(1, slice(7, 19), slice(5, 50))
    np.testing.assert_array_equal(whole.value[7:19, 5:50], part.value)
    np.testing.assert_array_equal(whole.high[7:19, 5:50], part.high)
    sums = reference.bounds_of_sums(p.operands[4], 1, slice(0, 40))
    some = reference.bounds_of_sums(p.operands[4], 1, slice(7, 19))
    np.testing.assert_array_equal(sums.low[7:19], some.low)
    without_bias = GemmProblem(40, 56, 24, batch=2, transpose_b=True, epilogue=steps[:1])
    before = Reference(without_bias, 1).bounds_of_c(1, slice(0, 40), slice(0, 56))
    np.testing.assert_allclose(sums.value, before.value.sum(1))


def test_buffers_are_the_operands_with_poison_between() -> None:
    p = GemmProblem(
        24, 40, 56, batch=3, transpose_a=True, lda=32, ldb=48, ldc=44, batch_stride_a=2000, batch_stride_b=0,
        epilogue=(BETA, EpilogueStep(EpilogueKind.MULTIPLY, dtype=DType.F16, ld=64), BIAS),
    )  # fmt: skip
    buffers = Reference(p, 1).buffers()
    assert len(buffers) == len(p.operands)
    for buffer, operand in zip(buffers, p.operands, strict=True):
        assert buffer.nbytes == operand.nbytes(3)
        assert outside_is_poison(buffer, operand, 3)
        assert not is_poison(matrices(buffer, operand, 3), operand.dtype).any()
        assert buffer.flags.writeable == (operand.role != "input")
    assert matrices(buffers[0], p.operands[0], 3).shape == (3, 56, 24)
    assert matrices(buffers[1], p.operands[1], 3).shape == (1, 56, 40)


def test_inputs_of_a_part_are_those_of_the_whole_and_nothing_else_is_drawn() -> None:
    p = GemmProblem(
        72, 600, 2**12, batch=2, transpose_b=True, lda=2**12 + 8, epilogue=(EpilogueStep(EpilogueKind.ADD),)
    )
    part = 1, slice(33, 40), slice(505, 520)
    whole, some = Reference(p, 1), Reference(p, 1, sampled=True)
    all_buffers, buffers = whole.buffers(), some.buffers([part])
    views = [(matrices(all_buffers[i], o, 2), matrices(buffers[i], o, 2)) for i, o in enumerate(p.operands)]
    for (expected, got), lines in zip(views, (part[1], part[2], None, part[1]), strict=True):
        if lines is not None:
            np.testing.assert_array_equal(expected[1, lines], got[1, lines])
            assert not got[0].any()
    assert not any(got[1, :16].any() for _, got in views[:2])
    gaps = buffers[0].reshape(2, 72, -1)[1, 33:40, 2**12 :]
    assert is_poison(gaps, DType.F16).all()
    bounds = some.bounds_of_c(*part)
    np.testing.assert_array_equal(bounds.low, Reference(p, 1, sampled=True).bounds_of_c(*part).low)
    np.testing.assert_allclose(bounds.value, whole.bounds_of_c(*part).value, rtol=1e-12, atol=1e-12)


def test_a_sample_takes_no_memory_for_the_rest() -> None:
    p = GemmProblem(8, 2**20, 2**13, transpose_b=True, dtype_c=DType.F16)  # B has 16 GiB
    reference = Reference(p, 1, sampled=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bounds = reference.bounds_of_c(0, slice(0, 8), slice(2**20 - 8, 2**20))
    assert np.abs(bounds.value).max() > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**17  # KiB


def test_trials_of_a_wide_problem_draw_the_columns_of_their_samples_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    p = GemmProblem(1, 128256, 4096, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=True)  # B has 1.05 GB
    default = default_config(p, find("b580"))

    def sampled(block_n: int) -> list[slice]:
        threads = Extent(1, ceil_div(p.n, block_n), 1)
        block = replace(default.matmul.block, n=block_n)
        tiles = tiles_to_simulate(p, replace(default, matmul=replace(default.matmul, block=block, threads=threads)), 1)
        assert tiles is not None
        return [slice(n * block_n, min((n + 1) * block_n, p.n)) for _, _, n in tiles]

    def nbytes(columns: list[slice]) -> int:
        return sum(part.stop - part.start for part in columns) * p.k * DType.BF16.nbytes

    assert max(nbytes(sampled(block_n)) for block_n in (16, 32, 64, 128, 256, 512)) < 2**26
    monkeypatch.setattr("tuner.verify.simulated_tiles.SIMULATED_SAMPLE", 0)
    reference, drawn = Reference(p, 1, sampled=True), 0
    for block_n in (32, 64):
        columns = sampled(block_n)
        reference.buffers((0, slice(0, 1), part) for part in columns)
        drawn += nbytes(columns)
    assert drawn // 2 < reference.held_bytes < drawn + 2**21


def test_outputs_are_poison_and_each_launch_gets_its_own() -> None:
    reference = Reference(GemmProblem(24, 40, 56, ldc=48), 1)
    first, second = reference.buffers(), reference.buffers()
    first[2][...] = 0
    assert is_poison(second[2], DType.F32).all()
    assert first[0] is second[0]


def test_inputs_follow_from_the_seed() -> None:
    first, again, other = (Reference(GemmProblem(40, 64, 96), seed).buffers()[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    # 2 ** -3 is the power of two next to 1 / sqrt(96).
    assert 0 < np.abs(first).max() <= 2**-3


@pytest.mark.parametrize("output", [DType.S8, DType.F16])
def test_integers_are_drawn_so_that_outputs_tell_something(output: DType) -> None:
    for k in (8, 64, 4096):
        for step in ((), (EpilogueStep(EpilogueKind.ALPHA, value=0.01),)):
            p = GemmProblem(16, 24, k, dtype_a=DType.S8, dtype_b=DType.U8, dtype_c=output, epilogue=step)
            bounds = Reference(p, 1).bounds_of_c(0, slice(0, 16), slice(0, 24))
            assert (np.abs(bounds.value) < (127 if output is DType.S8 else 65504)).mean() > 0.9
            assert np.unique(bounds.value).size > 10


def test_sums_of_integers_fit_in_i32() -> None:
    p = GemmProblem(4, 8, 2**17, dtype_a=DType.U8, dtype_b=DType.U8)
    bounds = Reference(p, 1).bounds_of_c(0, slice(0, 4), slice(0, 8))
    assert 0 < bounds.value.min() <= bounds.value.max() < 2**31


def test_floats_are_drawn_so_that_the_epilogue_fills_integers() -> None:
    def spread(value: float) -> float:
        step = EpilogueStep(EpilogueKind.ALPHA, value=value)
        p = GemmProblem(32, 48, 64, dtype_a=DType.F16, dtype_b=DType.F16, dtype_c=DType.S8, epilogue=(step,))
        return float(Reference(p, 1).bounds_of_c(0, slice(0, 32), slice(0, 48)).value.std())

    assert all(20 < spread(value) < 90 for value in (0.1, 1.0, 10.0))


@pytest.mark.parametrize(
    ("dtype_b", "scales", "most"), [(DType.BF16, None, 1e6), (DType.U8, "32", 2**14), (DType.E5M2, None, 2**14)]
)
@pytest.mark.parametrize("value", [1e-6, 0.01, 1.0, 1000.0, 1e6])
def test_floats_are_drawn_so_that_f16_holds_them(value: float, dtype_b: DType, scales: str | None, most: float) -> None:
    p = GemmProblem(
        32,
        48,
        64,
        dtype_a=DType.BF16,
        dtype_b=dtype_b,
        dtype_c=DType.F16,
        epilogue=(EpilogueStep(EpilogueKind.ALPHA, value=min(value, most)),),
        quantization=None if scales is None else parse_quantization(scales),
    )
    size = np.abs(Reference(p, 1).bounds_of_c(0, slice(0, 32), slice(0, 48)).value)
    assert 2**-14 < np.median(size) < size.max() < 65504


def test_a_problem_that_memory_does_not_hold_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(TooLargeToProve, match="GiB are free here"):
        Reference(GemmProblem(2**20, 2**20, 64), 0)


def test_bounds_are_computed_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = Reference(GemmProblem(24, 40, 56), seed=3)
    rows, columns = slice(0, 20), slice(0, 40)
    assert reference.bounds_of_c(0, rows, columns) is reference.bounds_of_c(0, rows, columns)
    assert reference.bounds_of_c(0, slice(4, 20), columns).value.shape == (16, 40)
    monkeypatch.setattr("tuner.verify.reference._KEPT_BOUNDS", 20 * 40)
    few = Reference(GemmProblem(24, 40, 56), seed=3)
    few.bounds_of_c(0, rows, columns)
    first, second = (few.bounds_of_c(0, slice(20, 24), columns) for _ in range(2))
    assert first is not second
    assert (first.low == second.low).all()
