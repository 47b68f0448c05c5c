"""Results of f32 arithmetic are within the error bound, and the bound is no wider than a few roundings."""

import math

import numpy as np
import pytest

from codegen import EpilogueKind, EpilogueStep
from tests.tuner.numpy_gemm import step_in_f32
from tuner.verify.error_bounds import (
    Approximate,
    added,
    elementwise,
    exactly,
    multiplied,
    scaled,
    summed,
)

STEPS = [
    EpilogueStep(EpilogueKind.ALPHA, value=0.3),
    EpilogueStep(EpilogueKind.SCALE, value=-1.7),
    EpilogueStep(EpilogueKind.RELU),
    EpilogueStep(EpilogueKind.LEAKY_RELU, value=0.1),
    EpilogueStep(EpilogueKind.LEAKY_RELU, value=-3.0),
    EpilogueStep(EpilogueKind.CLIP, value=-0.7, high=2.1),
    EpilogueStep(EpilogueKind.SIGMOID),
    EpilogueStep(EpilogueKind.SILU),
    EpilogueStep(EpilogueKind.TANH),
    EpilogueStep(EpilogueKind.GELU),
    EpilogueStep(EpilogueKind.GELU_TANH),
]


def _within(x: Approximate, got: np.ndarray) -> bool:
    return bool((np.abs(got.astype(np.float64) - x.value) <= x.error).all())


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1e-3, 40.0), (300.0, 1e-6)])
def test_a_product_of_two_that_are_off_is_within_its_bound(sizes: tuple[float, float]) -> None:
    rng = np.random.default_rng(9)
    exact = [rng.standard_normal(20_000) * size for size in sizes]
    off = [np.abs(values) * 1e-5 for values in exact]
    x, y = (
        (values + rng.uniform(-1, 1, values.shape) * most * 0.99).astype(np.float32)
        for values, most in zip(exact, off, strict=True)
    )
    bound = multiplied(Approximate(exact[0], off[0]), Approximate(exact[1], off[1]))
    assert _within(bound, x * y)
    assert (bound.error <= 2.1e-5 * np.abs(bound.value) + 1e-37).all()


def test_a_product_of_small_whole_numbers_is_exact() -> None:
    whole = exactly(np.arange(-50, 50).astype(np.float32))
    assert not multiplied(whole, whole).error.any()
    with np.errstate(over="ignore"):
        assert np.isinf(
            multiplied(exactly(np.array([3e38], np.float32)), exactly(np.array([3e38], np.float32))).value
        ).all()


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.kind.value}{step.value or ''}")
def test_a_step_in_f32_is_within_its_bound(step: EpilogueStep, size: float) -> None:
    rng = np.random.default_rng(4)
    exact = rng.standard_normal(20_000) * size
    off = np.abs(exact) * 1e-5
    seen = (exact + rng.uniform(-1, 1, exact.shape) * off * 0.99).astype(np.float32)
    with np.errstate(all="ignore"):
        given = elementwise(step, Approximate(exact, off))
        got = step_in_f32(step, seen, seen)
        assert _within(given, got)
        alone = elementwise(step, exactly(seen))
    assert _within(alone, got)
    assert (alone.error <= 2e-6 * (1 + np.abs(seen))).all()
    # Where nothing went wrong before, hardly anything may now.
    assert np.median(alone.error) <= 2e-6 * max(1.0, size)


def test_what_is_exact_must_be_exact() -> None:
    whole = np.array([0.5, -3.0, 1024.0, 0.0])
    for x in (scaled(exactly(whole), 0.25), added(exactly(whole), exactly(whole + 1)), summed(exactly(whole * 2), 0)):
        assert not x.error.any()
    assert scaled(exactly(whole), float(np.float32(0.1))).error[1] > 0
    assert added(exactly(np.array([2.0**24])), exactly(np.array([1.0]))).error[0] == pytest.approx(1.0, rel=1e-6)


def test_sums_are_within_their_bound_in_any_order() -> None:
    values = np.random.default_rng(5).random((50, 3000), dtype=np.float32)
    bound = summed(exactly(values), 1)
    one_by_one = np.add.accumulate(values, 1, dtype=np.float32)[:, -1]
    assert _within(bound, one_by_one)
    assert _within(bound, values.sum(1, dtype=np.float32))
    assert (bound.error < values.mean()).all()  # one that was left out is seen


def test_what_f32_cannot_hold_is_infinite() -> None:
    with np.errstate(over="ignore"):
        x = scaled(exactly(np.array([1e30, -1e30, 1.0])), 1e20)
    assert x.value[:2].tolist() == [np.inf, -np.inf]
    assert math.isfinite(x.error.max())
