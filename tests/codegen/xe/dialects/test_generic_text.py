"""The fast generic form says what the slow one does."""

from pathlib import Path

import pytest

from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.dialects.generic_text import generic_text
from tests.few import few

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.mlir"))
BRANCHES = """
"test.op"() ({
^bb0(%a: i32):
  "test.branch"(%a)[^bb1, ^bb2] <{"p" = 3 : i64}> : (i32) -> ()
^bb1:
  %x:2 = "test.pair"(%a) {"unit", "f" = (i32) -> i32} : (i32) -> (i32, (i32) -> f32)
  "test.branch"()[^bb2] : () -> ()
^bb2:
  "test.end"() : () -> ()
}) : () -> ()
"""


@pytest.mark.parametrize("file", few(EXAMPLES, 3), ids=lambda file: file.stem)
def test_it_parses_as_the_same_module(file: Path) -> None:
    module = parse(file.read_text())
    assert parse(generic_text(module)).is_structurally_equivalent(parse(text(module, generic=True)))


def test_blocks_successors_and_several_results_are_written() -> None:
    module = parse(BRANCHES)
    assert parse(generic_text(module)).is_structurally_equivalent(module)
