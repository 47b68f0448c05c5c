"""Epilogues as text: what is printed parses back, and a message names the step."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem, InvalidProblem
from codegen.problem.epilogue import MAX_STEPS
from codegen.problem.epilogue_text import (
    parse_epilogue,
    print_epilogue,
)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
AXES = st.sampled_from(Axis)
STORED = st.sampled_from([None, DType.F32, DType.F16, DType.BF16])
STEPS = st.one_of(
    st.builds(
        EpilogueStep, st.sampled_from([EpilogueKind.ALPHA, EpilogueKind.BETA, EpilogueKind.LEAKY_RELU]), NUMBERS
    ),
    st.builds(EpilogueStep, st.just(EpilogueKind.SCALE), NUMBERS),
    st.builds(EpilogueStep, st.sampled_from([EpilogueKind.SCALE, EpilogueKind.BIAS]), axis=AXES, dtype=STORED),
    st.builds(EpilogueStep, st.just(EpilogueKind.REDUCE), axis=AXES, dtype=st.sampled_from([None, DType.F32])),
    st.builds(
        EpilogueStep,
        st.sampled_from([EpilogueKind.ADD, EpilogueKind.MULTIPLY]),
        dtype=STORED,
        ld=st.none() | st.integers(1, 10**9),
    ),
    st.builds(
        EpilogueStep,
        st.sampled_from([EpilogueKind.RELU, EpilogueKind.GELU, EpilogueKind.GELU_TANH, EpilogueKind.SILU,
                         EpilogueKind.SIGMOID, EpilogueKind.TANH]),
    ),
    st.tuples(NUMBERS, NUMBERS).map(lambda b: EpilogueStep(EpilogueKind.CLIP, min(b), max(b))),
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(STEPS, max_size=MAX_STEPS).map(tuple))
@pytest.mark.slow
def test_what_is_printed_parses_back(steps: tuple[EpilogueStep, ...]) -> None:
    assert parse_epilogue(print_epilogue(steps)) == steps


def test_every_kind_is_spelled_as_it_is_read() -> None:
    text = (
        "alpha=0.5, beta=-1, bias:column:f16, scale=2, scale:row, relu, leaky_relu=0.01, gelu, gelu_tanh, silu, "
        "sigmoid, tanh, clip=-1..6, add:f16, multiply:bf16:ld=512, reduce:row"
    )
    assert print_epilogue(parse_epilogue(text)) == text
    assert {step.kind for step in parse_epilogue(text)} == set(EpilogueKind)


def test_spaces_do_not_matter_and_nothing_is_no_step() -> None:
    assert parse_epilogue(" alpha = 5e-1 ,bias : column:  f16") == parse_epilogue("alpha=0.5,bias:column:f16")
    assert parse_epilogue("  ") == ()
    assert parse_epilogue("clip=.5..5.") == (EpilogueStep(EpilogueKind.CLIP, 0.5, 5.0),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relu, gelux", "step 2, 'gelux': expected one of alpha, beta, bias"),
        ("relu,", "step 2, '': expected one of alpha"),
        ("alpha", "step 1, 'alpha': alpha needs a value, got none"),
        ("alpha=", "step 1, 'alpha=': expected a number after '=', got ''"),
        ("alpha=1_0", "expected a number after '=', got '1_0'"),
        ("alpha=0x10", "expected a number after '=', got '0x10'"),
        ("alpha=nan", "alpha: expected a finite value that f32 can hold, got nan"),
        ("alpha=-inf", "got -inf"),
        ("alpha=1e300", "expected a finite value that f32 can hold, got 1e+300"),
        ("clip=0..1e999", "expected a finite high that f32 can hold, got inf"),
        ("clip=6..1", "step 1, 'clip=6..1': clip needs value <= high, got 6.0 and 1.0"),
        ("clip=6", "expected two constants, as in clip=-1..6"),
        ("clip", "clip needs a value, got none"),
        ("bias", "bias needs an axis: row or column"),
        ("bias:depth", "expected row, column, a type (f32, f16, bf16) or ld=NUMBER after ':', got 'depth'"),
        ("bias:row:column", "expected one axis, got row and column"),
        ("bias:row:s8", "bias: expected dtype f32, f16, bf16, got s8"),
        ("bias:row=2", "got 'row=2'"),
        ("bias=2:row", "bias takes no value"),
        ("scale", "scale needs a value or an axis, and not both"),
        ("scale=2:row", "scale needs a value or an axis, and not both"),
        ("reduce:row:f16", "reduce: expected dtype f32, got f16"),
        ("relu:f16", "relu takes no dtype"),
        ("add:ld=0", "add: expected ld of at least 1, got 0"),
        ("add:ld=-4", "got 'ld=-4'"),
        (",".join(["relu"] * 100), f"expected at most {MAX_STEPS} steps, got 100"),
        ("x" * 10**6, "'" + "x" * 60 + "...': expected one of"),
    ],
)
def test_a_message_names_the_step_and_what_is_expected(text: str, message: str) -> None:
    with pytest.raises(InvalidProblem) as refused:
        parse_epilogue(text)
    assert message in str(refused.value)
    assert refused.value.field == "epilogue"
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 3.5e38])
def test_a_constant_that_f32_cannot_hold_is_refused(number: float) -> None:
    with pytest.raises(InvalidProblem, match="expected a finite value that f32 can hold"):
        EpilogueStep(EpilogueKind.ALPHA, number)


def test_a_problem_bounds_steps_and_distances() -> None:
    relu = EpilogueStep(EpilogueKind.RELU)
    with pytest.raises(InvalidProblem, match="expected at most 16 steps, got 100"):
        GemmProblem(48, 32, 64, epilogue=(relu,) * 100)
    with pytest.raises(InvalidProblem, match="add: expected ld of N 32 to 16777216, got 31"):
        GemmProblem(48, 32, 64, epilogue=parse_epilogue("add:ld=31"))
    with pytest.raises(InvalidProblem, match="expected ld of N 32 to 16777216, got 1000000000"):
        GemmProblem(48, 32, 64, epilogue=parse_epilogue("add:ld=1000000000"))
    with pytest.raises(InvalidProblem, match="batch_stride_a: expected at most"):
        GemmProblem(48, 32, 64, batch=2, batch_stride_a=10**30)
