"""Reasons why an operand is accessed by lanes, with what to change."""

from codegen import GemmProblem
from codegen.target import target_of
from codegen.xe.operand_access import memory_paths
from hal.facts.xe import find

TARGET = target_of(find("b580"))


def test_rows_that_lie_badly_are_told_how_far_apart_would_do() -> None:
    path = memory_paths(GemmProblem(3, 4098, 96), TARGET)["C"]
    assert path.rule == "block2d-pitch"
    assert path.why is not None
    assert path.why.startswith("rows of C are 16392 bytes apart; block messages need a multiple of 16 ")
    assert path.why.endswith("rows 4100 elements apart would do")


def test_of_a_vector_no_rows_are_apart() -> None:
    path = memory_paths(GemmProblem(1, 4098, 96), TARGET)["C"]
    assert path.rule == "block2d-pitch"
    assert path.why is not None
    assert path.why.startswith("C is one row of 16392 bytes; block messages need a multiple of 16, 4 elements,")
    assert "apart" not in path.why
