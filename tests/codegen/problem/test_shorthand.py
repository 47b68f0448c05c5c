"""Shorthands of quantisations: the fields that they mean, and what contradicts them."""

import pytest

from codegen import DType, InvalidProblem, Quantization
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gate import parse_gate
from codegen.problem.shorthand import Asked, Types, types_of

F16, BF16, F32 = DType.F16, DType.BF16, DType.F32


@pytest.mark.parametrize(
    ("text", "a", "b", "quantization"),
    [
        ("w4a16", F16, DType.U4, Quantization(128, F16, 8)),
        ("w4a16:64", BF16, DType.U4, Quantization(64, BF16, 8)),
        (" w4a16 : 32 : zeros ", F16, DType.U4, Quantization(32, F16, zeros=True)),
        ("w4a16:zeros", BF16, DType.U4, Quantization(128, BF16, zeros=True)),
        ("w4a16:zero=7", F16, DType.U4, Quantization(128, F16, 7)),
        ("w4a16:128:zero=0", F16, DType.U4, Quantization(128)),
        ("w4a16:f32:zeros", F16, DType.U4, Quantization(128, F32, zeros=True)),
        ("w4a16:column", F16, DType.U4, Quantization(None, F16, 8)),
        ("w8a16:64", BF16, DType.S8, Quantization(64, BF16)),
        ("w8a16:column", F16, DType.S8, Quantization()),
        ("fp8:128:f32", BF16, DType.E4M3, Quantization(128, F32)),
        ("fp8_e5m2:32", F16, DType.E5M2, Quantization(32)),
        ("mxfp4", BF16, DType.E2M1, Quantization(32, DType.E8M0)),
        ("none", BF16, BF16, None),
    ],
)
def test_a_shorthand_means_types_and_scales(text: str, a: DType, b: DType, quantization: Quantization | None) -> None:
    relu = parse_epilogue("relu")
    assert types_of(Asked(text, dtype=a, epilogue=relu)) == Types(a, b, None, relu, quantization)


@pytest.mark.parametrize(
    ("text", "b", "steps"),
    [
        ("w8a16", DType.S8, "scale:column:bf16, gelu"),
        ("fp8", DType.E4M3, "scale:column:bf16, gelu"),
        ("fp8_e5m2:f32", DType.E5M2, "scale:column, gelu"),
    ],
)
def test_scales_of_columns_are_the_first_step(text: str, b: DType, steps: str) -> None:
    types = types_of(Asked(text, dtype=BF16, epilogue=parse_epilogue("gelu")))
    assert (types.dtype_b, types.quantization) == (b, None)
    assert types.epilogue == parse_epilogue(steps)


def test_a_gate_needs_scales_before_its_activation() -> None:
    types = types_of(Asked("fp8", epilogue=parse_epilogue("relu"), gate=parse_gate("silu")))
    assert (types.quantization, types.epilogue) == (Quantization(), parse_epilogue("relu"))
    with pytest.raises(InvalidProblem, match="w8a8: expected no gate"):
        types_of(Asked("w8a8", gate=parse_gate("silu")))


def test_both_inputs_of_w8a8_are_bytes() -> None:
    types = types_of(Asked("w8a8", dtype=BF16, epilogue=parse_epilogue("bias:column")))
    assert types == Types(DType.S8, DType.S8, BF16, parse_epilogue("scale:row, scale:column, bias:column"), None)
    assert types_of(Asked("w8a8", dtype=DType.S8, dtype_c=F16)).dtype_c is F16


def test_the_explicit_form_takes_scales_of_the_type_of_a() -> None:
    types = types_of(Asked(quantization="64:zeros", dtype=BF16, dtype_b=DType.U4))
    assert types == Types(BF16, DType.U4, None, (), Quantization(64, BF16, zeros=True))
    assert types_of(Asked(dtype=BF16, dtype_a=F16)) == Types(F16, BF16, None, (), None)


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        (Asked("w3a16"), "quant", r"expected one of w4a16\[:GROUP\], .*, w8a8, or none; got 'w3a16'"),
        (Asked("mxfp4:64"), "quant", "got 'mxfp4:64'"),
        (Asked("w8a8:128"), "quant", "got 'w8a8:128'"),
        (Asked("w4a16:24"), "quant", "w4a16:24, which is 24:zero=8: expected groups of a multiple of 16, got 24"),
        (Asked("w4a16:128:zeros:zero=8"), "quant", "w4a16:.*: expected a group"),
        (Asked("w4a16", dtype=F32), "quant", "w4a16: expected A of f16, bf16, got f32"),
        (Asked("w8a8", dtype=F32), "quant", "w8a8: expected A of s8, .* got f32"),
        (Asked("fp8:e8m0"), "quant", "where they are a step, got e8m0: say a group"),
        (Asked("w4a16", dtype_b=DType.U4), "quant", "expected no dtype_b beside it, got u4"),
        (Asked("w4a16", quantization="64"), "quant", "expected no quantization beside it, got 64"),
        (Asked(quantization="24", dtype_b=DType.U4), "quantization", "multiple of 16, got 24"),
    ],
)
def test_what_contradicts_a_shorthand_is_refused(asked: Asked, field: str, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message) as refused:
        types_of(asked)
    assert refused.value.field == field
