"""Reasons why an operand is accessed by lanes, with what to change."""

from dataclasses import replace

from codegen import Activation, DType, Gate, GemmProblem
from codegen.target import target_of
from codegen.xe.operand_access import AccessBy, memory_paths
from hal.facts.xe import find

TARGET = target_of(find("b580"))


def test_rows_that_lie_badly_are_told_how_far_apart_would_do() -> None:
    path = memory_paths(GemmProblem(3, 4098, 96), TARGET)["C"]
    assert path.rule == "block2d-pitch"
    assert path.why is not None
    assert path.why.startswith("rows of C are 16392 bytes apart; block messages need a multiple of 16 ")
    assert path.why.endswith("rows 4100 elements apart would do")


def test_columns_of_the_second_product_of_a_gate_begin_at_words() -> None:
    odd = GemmProblem(32, 52, 64, dtype_a=DType.S8, dtype_b=DType.S8, ldb=112, gate=Gate(Activation.SILU))
    assert memory_paths(odd, TARGET)["B"].by is AccessBy.BLOCK2D
    path = memory_paths(replace(odd, n=54, ldc=None, batch_stride_c=None), TARGET)["B"]
    assert (path.rule, path.why) == ("block2d-column", "B2 begins 54 bytes after B1; it needs a multiple of 4")
    for alike in ({"transpose_b": True, "ldb": 64}, {"gate": Gate(Activation.SILU, 2)}):
        other = replace(odd, n=54, ldc=None, batch_stride_b=None, batch_stride_c=None, **alike)
        assert memory_paths(other, TARGET)["B"].by is AccessBy.BLOCK2D


def test_of_a_vector_no_rows_are_apart() -> None:
    path = memory_paths(GemmProblem(1, 4098, 96), TARGET)["C"]
    assert path.rule == "block2d-pitch"
    assert path.why is not None
    assert path.why.startswith("C is one row of 16392 bytes; block messages need a multiple of 16, 4 elements,")
    assert "apart" not in path.why
