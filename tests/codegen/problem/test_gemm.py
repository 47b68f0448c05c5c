"""GemmProblem: defaults, contradictions, and a key that hangs on all of it."""

import dataclasses
import math

import pytest

from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Gate, GemmProblem, InvalidProblem


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
        {"deterministic": True},
        {"epilogue": (EpilogueStep(EpilogueKind.RELU),)},
        {"gate": Gate(Activation.SILU)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_part_of_the_key(change: dict[str, object]) -> None:
    base = GemmProblem(48, 80, 112)
    assert set(change) <= {f.name for f in dataclasses.fields(GemmProblem)}
    changed = GemmProblem(**({"m": 48, "n": 80, "k": 112} | change))  # pyright: ignore[reportArgumentType]
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
        ({"ldb": 79}, "ldb"),
        ({"ldb": 111, "transpose_b": True}, "ldb"),
        ({"lda": 47, "transpose_a": True}, "lda"),
        ({"lda": 2**24 + 1}, "lda"),
        ({"alignment": 0}, "alignment"),
        ({"alignment": 3}, "alignment"),
        ({"batch": 0}, "batch"),
        ({"batch": 2, "batch_stride_c": 48 * 80 - 1}, "batch_stride_c"),
        ({"batch": 2, "ldc": 96, "batch_stride_c": 48 * 80}, "batch_stride_c"),
        ({"batch": 2, "batch_stride_b": -1}, "batch_stride_b"),
        ({"batch": 2, "batch_stride_b": True}, "batch_stride_b"),
        ({"batch": 2, "batch_stride_a": 2**49}, "batch_stride_a"),
        ({"epilogue": (EpilogueStep(EpilogueKind.ADD, ld=79),)}, "epilogue"),
        ({"epilogue": (EpilogueStep(EpilogueKind.ADD, ld=2**24 + 1),)}, "epilogue"),
        ({"epilogue": (EpilogueStep(EpilogueKind.RELU),) * 17}, "epilogue"),
    ],
)
def test_a_contradiction_names_its_field(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidProblem) as caught:
        GemmProblem(**({"m": 48, "n": 80, "k": 112} | values))  # pyright: ignore[reportArgumentType]
    assert caught.value.field == field


@pytest.mark.parametrize(
    "values",
    [
        {"ldb": 112, "transpose_b": True},
        {"batch": 2, "batch_stride_a": 0, "batch_stride_b": 0},
        {"batch": 2, "ldc": 96, "batch_stride_c": 48 * 96},
        {"alignment": 1},
        {"epilogue": (EpilogueStep(EpilogueKind.RELU),) * 16},
        {"epilogue": (EpilogueStep(EpilogueKind.ADD, ld=80),)},
    ],
)
def test_accepts_legal_values(values: dict[str, object]) -> None:
    stated = {"m": 48, "n": 80, "k": 112} | values
    problem = GemmProblem(**stated)  # pyright: ignore[reportArgumentType]
    assert {name: getattr(problem, name) for name in stated} == stated


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (EpilogueKind.ALPHA, {}, "alpha needs a value"),
        (EpilogueKind.BETA, {}, "beta needs a value"),
        (EpilogueKind.BIAS, {}, "bias needs an axis"),
        (EpilogueKind.REDUCE, {}, "reduce needs an axis"),
        (EpilogueKind.CLIP, {"value": 2.0, "high": 1.0}, "value <= high, got 2.0 and 1.0"),
        (EpilogueKind.CLIP, {"value": 2.0}, "value <= high"),
        (EpilogueKind.SCALE, {"value": 2.0, "axis": Axis.ROW}, "not both"),
        (EpilogueKind.SCALE, {}, "a value or an axis"),
        (EpilogueKind.ALPHA, {"value": math.nan}, "finite value that f32 can hold, got nan"),
        (EpilogueKind.ALPHA, {"value": math.inf}, "got inf"),
        (EpilogueKind.ALPHA, {"value": 1e39}, "f32 can hold"),
        (EpilogueKind.CLIP, {"value": 0.0, "high": math.nan}, "finite high"),
        (EpilogueKind.RELU, {"value": 1.0}, "relu takes no value"),
        (EpilogueKind.TANH, {"axis": Axis.ROW}, "tanh takes no axis"),
        (EpilogueKind.SCALE, {"value": 2.0, "dtype": DType.F16}, "scale takes no dtype"),
        (EpilogueKind.BIAS, {"axis": Axis.ROW, "ld": 80}, "bias takes no ld"),
        (EpilogueKind.BIAS, {"axis": Axis.ROW, "dtype": DType.S8}, "expected dtype f32, f16, bf16, got s8"),
        (EpilogueKind.REDUCE, {"axis": Axis.ROW, "dtype": DType.F16}, "expected dtype f32, got f16"),
        (EpilogueKind.ADD, {"ld": 0}, "ld of at least 1, got 0"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused(kind: EpilogueKind, values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        EpilogueStep(kind, **values)  # pyright: ignore[reportArgumentType]


def test_operands_are_what_a_launch_passes_pointers_to_in_order() -> None:
    steps = (
        EpilogueStep(EpilogueKind.BETA, value=0.5),
        EpilogueStep(EpilogueKind.BIAS, axis=Axis.ROW),
        EpilogueStep(EpilogueKind.RELU),
        EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN, dtype=DType.F16),
        EpilogueStep(EpilogueKind.ADD, ld=96),
        EpilogueStep(EpilogueKind.REDUCE, axis=Axis.COLUMN),
    )
    p = GemmProblem(48, 80, 112, batch=3, transpose_a=True, batch_stride_b=0, epilogue=steps)
    assert [
        (o.name, o.role, o.dtype.value, o.axes, o.rows, o.columns, o.pitch, o.batch_stride) for o in p.operands
    ] == [
        ("A", "input", "f16", ("k", "m"), 112, 48, 48, 112 * 48),
        ("B", "input", "f16", ("k", "n"), 112, 80, 80, 0),
        ("C", "inout", "f32", ("m", "n"), 48, 80, 80, 48 * 80),
        ("bias", "input", "f32", ("m", ""), 48, 1, 1, 0),
        ("bias2", "input", "f16", ("", "n"), 1, 80, 80, 0),
        ("add", "input", "f32", ("m", "n"), 48, 80, 96, 48 * 96),
        ("reduce", "output", "f32", ("", "n"), 1, 80, 80, 80),
    ]
    assert [o.step for o in p.operands] == [None, None, None, 1, 3, 4, 5]
    assert p.operands[1].nbytes(p.batch) == 112 * 80 * 2


@pytest.mark.parametrize(
    ("dtype", "acc"), [(DType.F16, DType.F32), (DType.TF32, DType.F32), (DType.S8, DType.I32), (DType.U8, DType.I32)]
)
def test_c_is_of_the_type_of_sums_unless_said(dtype: DType, acc: DType) -> None:
    p = GemmProblem(48, 80, 112, dtype_a=dtype, dtype_b=dtype)
    assert (p.dtype_acc, p.dtype_c) == (acc, acc)
    assert p.key == GemmProblem(48, 80, 112, dtype_a=dtype, dtype_b=dtype, dtype_c=acc, dtype_acc=acc).key
