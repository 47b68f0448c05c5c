"""Quantisations: their text, the operands that they add, and what cannot be."""

import pytest

from codegen import DType, GemmProblem, InvalidProblem
from codegen.problem.gemm import SCALE_B, ZERO_B
from codegen.problem.quantization import Quantization, parse_quantization


@pytest.mark.parametrize(
    ("text", "quantization"),
    [
        ("128", Quantization(128)),
        ("column", Quantization()),
        ("32:e8m0", Quantization(32, DType.E8M0)),
        (" 64 : bf16 : zero=-3 ", Quantization(64, DType.BF16, -3)),
        ("128:f16:zeros", Quantization(128, DType.F16, zeros=True)),
        ("128:zeros", Quantization(128, DType.F16, zeros=True)),
        ("128:zero=8", Quantization(128, DType.F16, 8)),
    ],
)
def test_the_text_is_parsed(text: str, quantization: Quantization) -> None:
    assert parse_quantization(text) == quantization
    assert parse_quantization(str(quantization)) == quantization


@pytest.mark.parametrize(
    "text", ["", "row", "0", "24", "128:u4", "128:f16:zero=", "128:f16:zeros=8", "128:f16:zero=999"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidProblem, match="expected") as refused:
        parse_quantization(text)
    assert refused.value.field == "quantization"


def test_words_of_eight_lie_along_k() -> None:
    plain = GemmProblem(24, 40, 320, dtype_b=DType.U4)
    assert (plain.rows_b, plain.row_b, plain.operands[1].nbytes(1)) == (40, 40, 320 * 40 // 2)
    turned = GemmProblem(24, 40, 320, dtype_b=DType.U4, transpose_b=True)
    assert (turned.rows_b, turned.row_b, turned.pitch_b) == (40, 40, 40)
    with pytest.raises(InvalidProblem, match="multiple of 8 for u4, got 36"):
        GemmProblem(24, 40, 36, dtype_b=DType.U4)


def test_scales_and_zero_points_are_operands_after_c() -> None:
    quantization = Quantization(32, DType.BF16, zeros=True)
    p = GemmProblem(24, 40, 336, batch=3, dtype_b=DType.U4, quantization=quantization)
    names = [operand.name for operand in p.operands]
    assert names == ["A", "B", "C", SCALE_B, ZERO_B]
    scale, zero = p.operands[3:]
    assert (scale.rows, scale.columns, scale.batch_stride, scale.dtype) == (11, 40, 440, DType.BF16)
    assert (zero.rows, zero.columns, zero.batch_stride, zero.nbytes(3)) == (2, 40, 80, 3 * 2 * 40 * 4)
    shared = GemmProblem(24, 40, 336, batch=3, batch_stride_b=0, dtype_b=DType.U4, quantization=quantization)
    assert [operand.batch_stride for operand in shared.operands[3:]] == [0, 0]
    assert "f16,u4:32:bf16:zeros->f32 NN" in str(p)
    assert p.key != GemmProblem(24, 40, 336, batch=3, dtype_b=DType.U4).key


@pytest.mark.parametrize(
    ("a", "b", "quantization", "message"),
    [
        (DType.F16, DType.F16, Quantization(32), "B of s8, u8, .*, got f16 and f16"),
        (DType.S8, DType.S8, Quantization(32), "got s8 and s8"),
        (DType.F16, DType.S4, Quantization(32, zeros=True), "stored zero points, got s4"),
        (DType.F16, DType.E4M3, Quantization(32, zero=8), "no zero point of e4m3"),
        (DType.F16, DType.U4, Quantization(32, zero=16), "from 0 to 15, as u4 is, got 16"),
        (DType.F16, DType.S4, Quantization(32, zero=8), "from -8 to 7, as s4 is, got 8"),
        (DType.F16, DType.U8, Quantization(32, zero=-1), "from 0 to 255, as u8 is, got -1"),
        (DType.F16, DType.S8, Quantization(32, zero=128), "from -128 to 127, as s8 is, got 128"),
    ],
)
def test_a_quantisation_needs_weights(a: DType, b: DType, quantization: Quantization, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        GemmProblem(24, 40, 320, dtype_a=a, dtype_b=b, quantization=quantization)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"group": 24}, "multiple of 16, got 24"),
        ({"scale": DType.U4}, "scales of f16"),
        ({"zero": 8, "zeros": True}, "got both"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        Quantization(**values)  # pyright: ignore[reportArgumentType]
