"""Gates: their text, B of two products, and arrangements that cannot be."""

import pytest

from codegen import Activation, Gate, GemmProblem, InvalidProblem
from codegen.problem.gate import parse_gate

SILU = Gate(Activation.SILU)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("silu", SILU),
        (" gelu_tanh ", Gate(Activation.GELU_TANH)),
        ("gelu:interleaved", Gate(Activation.GELU, 1)),
        ("silu : interleaved = 16", Gate(Activation.SILU, 16)),
        ("", None),
    ],
)
def test_the_text_of_a_gate_is_parsed(text: str, gate: Gate | None) -> None:
    assert parse_gate(text) == gate


@pytest.mark.parametrize("gate", [Gate(kind, block) for kind in Activation for block in (None, 1, 2, 64)], ids=str)
def test_a_printed_gate_is_parsed_again(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate


@pytest.mark.parametrize("text", ["relu", "silu:", "silu:16", "silu:interleaved=x", "silu, gelu", "silu:interleaved=0"])
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(InvalidProblem, match="expected") as refused:
        parse_gate(text)
    assert refused.value.field == "gate"


@pytest.mark.parametrize("block", [0, -2, 3, 24, True])
def test_blocks_are_a_power_of_two_columns(block: int) -> None:
    with pytest.raises(InvalidProblem, match="power of two"):
        Gate(Activation.SILU, block)


def test_b_holds_two_products() -> None:
    plain, gated = GemmProblem(48, 80, 112, ldb=160), GemmProblem(48, 80, 112, gate=SILU)
    assert (gated.row_b, gated.rows_b, gated.pitch_b, gated.batch_stride_b) == (160, 112, 160, 160 * 112)
    assert gated.flops == 2 * plain.flops == 4 * 48 * 80 * 112
    turned = GemmProblem(48, 80, 112, transpose_b=True, gate=SILU)
    assert (turned.row_b, turned.rows_b, turned.batch_stride_b) == (112, 160, 160 * 112)
    b, c = turned.operands[1], turned.c
    assert (b.rows, b.columns, b.axes, (c.rows, c.columns)) == (160, 112, ("2 * n", "k"), (48, 80))


def test_rows_of_b_hold_both_products() -> None:
    with pytest.raises(InvalidProblem, match="expected at least the row length 160, got 128"):
        GemmProblem(48, 80, 112, ldb=128, gate=SILU)


def test_n_is_whole_blocks() -> None:
    assert GemmProblem(48, 80, 112, gate=Gate(Activation.SILU, 16)).columns_b == 160
    with pytest.raises(InvalidProblem, match="whole blocks of 32 columns, got 80"):
        GemmProblem(48, 80, 112, gate=Gate(Activation.SILU, 32))


def test_a_gate_is_part_of_the_name() -> None:
    assert str(GemmProblem(48, 80, 112, gate=Gate(Activation.GELU, 1))) == "48x80x112 f16->f32 NN gate gelu:interleaved"
