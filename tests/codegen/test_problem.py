"""GemmProblem: defaults, contradictions, and a key that hangs on all of it."""

import dataclasses

import pytest

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem, InvalidProblem


def test_pitches_default_to_tight_rows() -> None:
    p = GemmProblem(48, 80, 112)
    assert (p.pitch_a, p.pitch_b, p.pitch_c) == (112, 80, 80)
    t = GemmProblem(48, 80, 112, transpose_a=True, transpose_b=True)
    assert (t.pitch_a, t.pitch_b, t.rows_a, t.rows_b) == (48, 112, 112, 80)


def test_a_tight_pitch_said_or_defaulted_is_one_key() -> None:
    assert GemmProblem(48, 80, 112).key == GemmProblem(48, 80, 112, lda=112, ldb=80, ldc=80).key


@pytest.mark.parametrize(
    "change",
    [
        {"m": 49},
        {"n": 81},
        {"k": 113},
        {"batch": 2},
        {"dtype_a": DType.BF16},
        {"dtype_b": DType.BF16},
        {"dtype_c": DType.F16},
        {"dtype_acc": DType.F16},
        {"transpose_a": True},
        {"transpose_b": True},
        {"lda": 128},
        {"ldb": 128},
        {"ldc": 128},
        {"batch_stride_a": 0},
        {"batch_stride_b": 0},
        {"batch_stride_c": 10_000},
        {"alignment": 128},
        {"dynamic": True},
        {"epilogue": (EpilogueStep(EpilogueKind.RELU),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_part_of_the_key(change: dict[str, object]) -> None:
    base = GemmProblem(48, 80, 112)
    assert set(change) <= {f.name for f in dataclasses.fields(GemmProblem)}
    changed = GemmProblem(**({"m": 48, "n": 80, "k": 112} | change))  # pyright: ignore
    assert changed.key != base.key


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"m": 0}, "m"),
        ({"n": -3}, "n"),
        ({"k": 2**40}, "k"),
        ({"m": 4.5}, "m"),
        ({"m": "12"}, "m"),
        ({"m": True}, "m"),
        ({"lda": 111}, "lda"),
        ({"ldc": 79}, "ldc"),
        ({"alignment": 48}, "alignment"),
        ({"batch_stride_c": 0}, "batch_stride_c"),
        ({"batch_stride_a": 5}, "batch_stride_a"),
    ],
)
def test_a_contradiction_names_its_field(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidProblem) as caught:
        GemmProblem(**({"m": 48, "n": 80, "k": 112} | values))  # pyright: ignore
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (EpilogueKind.ALPHA, {}),
        (EpilogueKind.BIAS, {}),
        (EpilogueKind.CLIP, {"value": 2.0, "high": 1.0}),
        (EpilogueKind.CLIP, {"value": 2.0}),
        (EpilogueKind.SCALE, {"value": 2.0, "axis": Axis.ROW}),
    ],
)
def test_an_incomplete_epilogue_step_is_refused(kind: EpilogueKind, values: dict[str, float]) -> None:
    with pytest.raises(InvalidProblem):
        EpilogueStep(kind, **values)  # pyright: ignore
