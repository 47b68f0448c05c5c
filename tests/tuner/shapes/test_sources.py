"""Shapes from text, tables, JSON and presets: what they say, and where a fault is."""

import json

import pytest

from codegen import Activation, DType, Gate, GemmProblem, Quantization
from codegen.problem.epilogue_text import parse_epilogue
from codegen.serialization import to_json
from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base
from tuner.shapes.grammar import parse_text
from tuner.shapes.models import MODELS
from tuner.shapes.presets import is_preset, preset_shapes
from tuner.shapes.shape import Shape, merged
from tuner.shapes.tables import parse_csv, parse_json

BF16 = Base(dtype_a=DType.BF16, dtype_b=DType.BF16)


def _weights(m: int, n: int, k: int, quantization: Quantization) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=DType.BF16, dtype_b=DType.U4, quantization=quantization)


def _sizes(shapes: list[Shape]) -> list[tuple[int, int, int]]:
    return [(s.problem.m, s.problem.n, s.problem.k) for s in shapes]


def test_a_line_means_each_combination_of_its_values() -> None:
    text = """
    # decoding, then a prompt
    m=1,16  n=96  k=64..256*2   # to the end of the line
    8x32x40 dtype=f16 layout=nt weight=2.5 name=small
    m=128:300:64 n=7 k=9 batch=2 epilogue=alpha=0.5,gelu
    m=4 n=64 k=32 gate=silu:interleaved=16
    2x32x64 quant=w4a16:32
    2x48x64 dtype_a=f16 dtype_b=u4 quantization=16:zeros
    """
    shapes = parse_text(text, BF16)
    assert _sizes(shapes)[:6] == [(m, 96, k) for m in (1, 16) for k in (64, 128, 256)]
    assert _sizes(shapes)[6:] == [
        (8, 32, 40),
        (128, 7, 9),
        (192, 7, 9),
        (256, 7, 9),
        (4, 64, 32),
        (2, 32, 64),
        (2, 48, 64),
    ]
    assert shapes[0].problem == GemmProblem(1, 96, 64, dtype_a=DType.BF16, dtype_b=DType.BF16)
    assert shapes[6] == Shape(GemmProblem(8, 32, 40, transpose_b=True), 2.5, "small")
    assert shapes[10].problem == GemmProblem(
        4, 64, 32, dtype_a=DType.BF16, dtype_b=DType.BF16, gate=Gate(Activation.SILU, 16)
    )
    assert shapes[11].problem == _weights(2, 32, 64, Quantization(32, DType.BF16, 8))
    assert shapes[12].problem == GemmProblem(2, 48, 64, dtype_b=DType.U4, quantization=Quantization(16, zeros=True))
    assert (shapes[7].problem.batch, shapes[7].problem.epilogue) == (2, parse_epilogue("alpha=0.5,gelu"))


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("\nm=1 n=2 k=3 q=4", "line 2, column 13", "MxNxK or NAME=VALUE"),
        ("m=1 n=2,x k=3", "line 1, column 9", "first:last:step"),
        ("m=1 n=9:3:1 k=3", "line 1, column 7", "last >= first"),
        ("m=1 n=1..8*1 k=3", "line 1, column 7", "factor above 1"),
        ("m=1 n=2", "line 1, column 1", "got no k"),
        ("m=1 n=2 k=3 m=4", "line 1, column 13", "expected m once"),
        ("1x2x3 weight=-1", "line 1, column 14", "positive"),
        ("1x2x3 dtype=f17", "line 1, column 13", "expected one of f16"),
        ("1x0x3", "line 1, column 3", "expected 1 to"),
        ("m=1:600:1 n=2 k=3", "line 1, column 3", "at most 500 values"),
        ("m=1:30:1 n=1:30:1 k=3", "line 1", "at most 500 shapes"),
        ("1x2x3 epilogue=wobble", "line 1, column 16", "wobble"),
        ("1x2x3 gate=wobble", "line 1, column 12", "expected one of silu"),
        ("1x2x3 quant=w5", "line 1, column 13", "expected one of w4a16"),
        ("1x2x8 dtype_b=u4 quantization=7", "line 1, column 31", "multiple of 16"),
    ],
)
def test_a_fault_of_a_text_is_told_with_its_place(text: str, place: str, expected: str) -> None:
    with pytest.raises(InvalidShapes) as fault:
        parse_text(text, BF16)
    assert fault.value.where == place
    assert expected in fault.value.message


def test_a_table_has_a_header_and_empty_cells_say_nothing() -> None:
    table = "k,m,n,dtype,weight,name\n64,3,5,,2,first\n\n128,6,10,s8,,\n"
    shapes = parse_csv(table, Base(dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16))
    assert _sizes(shapes) == [(3, 5, 64), (6, 10, 128)]
    assert (shapes[0].weight, shapes[0].name, shapes[0].problem.dtype_c) == (2.0, "first", DType.BF16)
    # Of other inputs C is what follows from these.
    assert (shapes[1].problem.dtype_a, shapes[1].problem.dtype_c) == (DType.S8, DType.I32)


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", "", "expected a header"),
        ("m,n,k,colour\n1,2,3,red", "line 1, column 4", "'colour'"),
        ("m,n,k,m\n1,2,3,4", "line 1, column 4", "each column once, got 'm' twice"),
        ("m;n;k\n1;2;3", "line 1, column 1", "separated by commas, not by semicolons"),
        ("m,n\n1,2", "line 1", "none for k"),
        ("m,n,k\n1,2", "line 2", "expected 3 values"),
        ("m,n,k\n1,2,3\n4,5.5,6", "line 3, column 2", "whole number"),
        ("m,n,k,layout\n1,2,3,xx", "line 2, column 4", "nn, nt"),
        ("m,n,k,name\n1,2,3,a\0b", "line 2, column 4", "printable"),
        ('m,n,k\n1,"2,3', "line 2", "comma-separated"),
        ("m,n,k\n" + "1,2,3\n" * 501, "", "at most 500"),
    ],
)
def test_a_fault_of_a_table_is_told_with_its_place(text: str, place: str, expected: str) -> None:
    with pytest.raises(InvalidShapes) as fault:
        parse_csv(text, BF16)
    assert fault.value.where == place
    assert expected in fault.value.message


def test_a_json_list_has_fields_or_whole_problems() -> None:
    whole = GemmProblem(9, 33, 65, lda=80, epilogue=parse_epilogue("bias:column"))
    text = json.dumps([{"m": 3, "n": 5, "k": 7, "weight": 4}, {"problem": to_json(whole), "name": "whole"}])
    shapes = parse_json(text, BF16)
    assert shapes[0] == Shape(GemmProblem(3, 5, 7, dtype_a=DType.BF16, dtype_b=DType.BF16), 4.0)
    assert shapes[1] == Shape(whole, 1.0, "whole")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ('[{"m" 1}]', "line 1, column 7", "expected JSON"),
        ('{"m": 1}', "", "expected a list"),
        ('[{"m": 1, "n": 2, "k": 3}, 5]', "shape 2", "expected an object"),
        ('[{"m": 1, "n": 2, "k": true}]', "shape 1", "k: expected a number"),
        ('[{"m": 1, "n": 2, "k": 3.5}]', "shape 1", "k: expected a whole number"),
        ('[{"problem": {"m": 1, "n": 2}}]', "shape 1", "problem: missing k"),
        ('[{"m": 1, "n": 2, "k": 3, "m": 4}]', "", "each key of an object once, got 'm' twice"),
        ('[{"m": 1, "n": 2, "k": 3, "name": "\\u0000x"}]', "shape 1", "printable"),
        ('[{"m": 1, "n": 2, "k": 3, "name": "\\ud800"}]', "shape 1", "printable"),
        ('[{"problem": {"m": 1, "n": 2, "k": 3}, "name": "a\\nb"}]', "shape 1", "printable"),
        (f'[{{"m": {"9" * 5000}, "n": 2, "k": 3}}]', "", "at most 300 digits, got 999"),
        ('[{"problem": {"m": 1, "n": 2, "k": 3}, "m": 2}]', "shape 1", "beside a whole problem"),
        ('[{"problem": {"m": 1, "n": 2, "k": 3}, "weight": 0}]', "shape 1", "positive"),
    ],
)
def test_a_fault_of_json_is_told_with_its_place(text: str, place: str, expected: str) -> None:
    with pytest.raises(InvalidShapes) as fault:
        parse_json(text, BF16)
    assert fault.value.where == place
    assert expected in fault.value.message


def test_a_preset_is_a_models_layers_by_tokens() -> None:
    shapes = preset_shapes("preset:llama-3-8b@tokens=1,128@layers=qkv,down,lm_head", BF16)
    assert _sizes(shapes) == [(m, n, k) for n, k in ((6144, 4096), (4096, 14336), (128256, 4096)) for m in (1, 128)]
    assert [s.weight for s in shapes] == [32, 32, 32, 32, 1, 1]
    assert len(preset_shapes("gemma-2-9b", BF16)) == 20
    assert [layer.n for layer in MODELS["gemma-2-9b"].layers] == [8192, 3584, 28672, 3584, 256000]
    assert is_preset("phi-3-mini@tokens=2")
    assert is_preset("llama-9@tokens=1")  # which then is told to be none
    assert not is_preset("shapes.csv")


def test_experts_are_one_problem_with_a_row_for_each_that_a_token_passes() -> None:
    shapes = preset_shapes("qwen3-30b-a3b@tokens=1,5,40@layers=router,expert_gate_up,expert_down", BF16)
    assert [(s.problem.m, s.problem.experts, s.weight) for s in shapes] == [
        *((tokens, None, 48) for tokens in (1, 5, 40)),
        *((8 * tokens, 128, 48) for tokens in (1, 5, 40)),
        *((8 * tokens, 128, 48) for tokens in (1, 5, 40)),
    ]
    assert [s.name for s in merged(shapes)][3] == "qwen3-30b-a3b expert_gate_up"


def test_a_model_that_is_not_known_is_told_with_the_nearest() -> None:
    with pytest.raises(InvalidShapes, match=r"such as (qwen3-\S+, ){2}qwen3-\S+; got 'qwen3-7b'"):
        preset_shapes("qwen3-7b@tokens=1", BF16)
    with pytest.raises(InvalidShapes, match=r"expected layers of qkv_a, q_b, kv_b, .*; got 'qkv'"):
        preset_shapes("deepseek-v3@layers=qkv", BF16)


@pytest.mark.parametrize(
    "text",
    [
        "preset:gpt-9",
        "llama-9@tokens=1",
        "llama-3-8b@tokens=0",
        "llama-3-8b@layers=router",
        "llama-3-8b@depth=2",
        "llama-3-8b@tokens=1@tokens=2",
    ],
)
def test_a_preset_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(InvalidShapes, match="expected"):
        preset_shapes(text, BF16)


def test_a_range_of_numbers_that_are_too_long_is_told_as_that() -> None:
    with pytest.raises(
        InvalidShapes, match="line 1, column 3: expected numbers of at most 9 digits, got '1:1000000000:1'"
    ):
        parse_text("m=1:1000000000:1 n=8 k=16", BF16)


def test_equal_problems_are_one_shape_with_the_sum_of_their_weights() -> None:
    shapes = parse_text("3x5x7 weight=2 name=a\n3x5x8\n3x5x7 name=b\n3x5x7 name=a", BF16)
    assert [(s.problem.k, s.weight, s.name) for s in merged(shapes)] == [(7, 4.0, "a, b"), (8, 1.0, "")]


def test_a_shape_may_say_other_weights_than_its_set() -> None:
    base = Base(dtype_a=DType.BF16, dtype_b=DType.BF16, quant="w4a16:32:zeros", epilogue=parse_epilogue("relu"))
    table = "m,n,k,quant,dtype_b,dtype\n3,16,64,,,\n3,16,64,none,,\n3,16,64,fp8,,\n3,16,64,,s8,\n3,16,64,,,f16\n"
    quantised, plain, fp8, exact, halves = (shape.problem for shape in parse_csv(table, base))
    assert (quantised.dtype_b, quantised.quantization) == (DType.U4, Quantization(32, DType.BF16, zeros=True))
    assert (plain.dtype_a, plain.dtype_b, plain.quantization) == (DType.BF16, DType.BF16, None)
    assert (fp8.dtype_b, fp8.epilogue) == (DType.E4M3, parse_epilogue("scale:column:bf16, relu"))
    assert (exact.dtype_b, exact.quantization, exact.epilogue) == (DType.S8, None, base.epilogue)
    assert (halves.dtype_a, halves.quantization) == (DType.F16, Quantization(32, zeros=True))
    said = Base(dtype_b=DType.U4, quantization=Quantization(32))
    whole, other = (shape.problem for shape in parse_csv("m,n,k,dtype\n3,16,64,\n3,16,64,bf16\n", said))
    assert (whole.dtype_b, whole.quantization) == (DType.U4, Quantization(32))
    assert (other.dtype_b, other.quantization) == (DType.BF16, None)


@pytest.mark.parametrize("base", [Base(quant="w4a16"), Base(dtype_b=DType.U4, quantization=Quantization(128, zero=8))])
def test_of_a_model_the_router_and_lm_head_are_not_quantised(base: Base) -> None:
    shapes = preset_shapes("qwen3-30b-a3b@tokens=16", base)
    kept = {shape.name.split()[1] for shape in shapes if shape.problem.quantization is None}
    assert kept == {"router", "lm_head"}
    for shape in shapes:
        b = DType.F16 if shape.problem.quantization is None else DType.U4
        assert (shape.problem.dtype_a, shape.problem.dtype_b) == (DType.F16, b)
    assert len(shapes) == 6


def test_inputs_of_w8a8_are_bytes_except_in_layers_that_are_not_quantised() -> None:
    by_name = {
        shape.name.split()[1]: shape.problem
        for shape in preset_shapes("qwen3-30b-a3b@tokens=16", Base(DType.BF16, DType.BF16, quant="w8a8"))
    }
    assert (by_name["qkv"].dtype_a, by_name["qkv"].dtype_c) == (DType.S8, DType.BF16)
    assert by_name["qkv"].epilogue == parse_epilogue("scale:row, scale:column")
    assert (by_name["router"].dtype_a, by_name["router"].dtype_c, by_name["router"].epilogue) == (
        DType.BF16,
        DType.F32,
        (),
    )
