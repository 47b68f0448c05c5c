"""Problems of experts: operands, sizes, and the spread of rows for which they are tuned."""

import pytest

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem, InvalidProblem
from codegen.problem.experts import offsets, row_tiles, spread_rows
from codegen.problem.quantization import Quantization

BIAS = EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN)
WEIGHTED = EpilogueStep(EpilogueKind.SCALE, axis=Axis.ROW)


@pytest.mark.parametrize(("rows", "experts"), [(1, 1), (1, 8), (2, 3), (8, 128), (100, 2), (128, 16), (1024, 128)])
def test_every_row_has_an_expert(rows: int, experts: int) -> None:
    spread = spread_rows(rows, experts)
    assert len(spread) == experts
    assert sum(spread) == rows
    assert min(spread) >= 0


def test_rows_are_spread_as_by_a_router() -> None:
    few, many = spread_rows(8, 128), spread_rows(4096, 128)
    assert max(few) == 1
    assert min(many) == 0
    assert 1 in many
    assert max(many) > 3 * 4096 / 128
    assert many == spread_rows(4096, 128)


def test_tiles_cover_the_rows_of_each_expert() -> None:
    assert row_tiles((0, 1, 16, 17), 16) == 4
    assert offsets((0, 1, 16, 17)) == [0, 0, 1, 17, 34]


def test_each_expert_has_a_matrix_of_weights_and_vectors_of_columns() -> None:
    p = GemmProblem(96, 64, 128, transpose_b=True, epilogue=(BIAS, WEIGHTED), experts=8)
    a, b, c, ends, bias, weighted = p.operands
    assert (b.matrices(1), b.elements(1), b.batch_stride) == (8, 8 * 64 * 128, 64 * 128)
    assert (a.elements(1), c.elements(1)) == (96 * 128, 96 * 64)
    assert (ends.name, ends.dtype, ends.elements(1)) == ("offsets", DType.I32, 9)
    assert (bias.elements(1), weighted.elements(1)) == (8 * 64, 96)
    assert p.flops == 2 * 96 * 64 * 128
    assert str(p) == "96x64x128 f16->f32 NT of 8 experts + bias:column, scale:row"


def test_each_expert_has_scales_of_its_own() -> None:
    p = GemmProblem(96, 64, 128, dtype_b=DType.U4, quantization=Quantization(32, zeros=True), experts=8)
    scale, zero = (o for o in p.operands if o.name in ("B_scale", "B_zero"))
    assert (scale.elements(1), zero.elements(1)) == (8 * 4 * 64, 8 * 64)


@pytest.mark.parametrize(
    ("experts", "batch", "stride", "field"),
    [(0, 1, None, "experts"), (8, 2, None, "experts"), (8, 1, 0, "batch_stride_b")],
)
def test_what_contradicts_experts_is_refused(experts: int, batch: int, stride: int | None, field: str) -> None:
    with pytest.raises(InvalidProblem) as refused:
        GemmProblem(96, 64, 128, batch=batch, batch_stride_b=stride, experts=experts)
    assert refused.value.field == field
