"""Comparisons and selects of vectors parse, print, verify, and are what MLIR has."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

import pytest
from torch_mlir import ir
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.mlir.context import context

SOURCE = """builtin.module {
  func.func @f(%a: vector<2x8xi32>, %b: vector<2x8xi32>, %x: f32, %i: index) -> vector<2x8xi32> {
    %m = arith.cmpi slt, %a, %b : vector<2x8xi32>
    %s = arith.select %m, %a, %b : vector<2x8xi1>, vector<2x8xi32>
    %t = arith.cmpf une, %x, %x : f32
    %u = arith.select %t, %s, %b : vector<2x8xi32>
    %z = arith.cmpi uge, %i, %i : index
    func.return %u : vector<2x8xi32>
  }
}

"""


def test_comparisons_of_vectors_round_trip_and_mlir_takes_them() -> None:
    module = parse(SOURCE)
    module.verify()
    assert text(module).strip() == SOURCE.strip()
    with context(), ir.Location.unknown():
        known = str(ir.Module.parse(text(module, generic=True)))
    assert "arith.cmpi slt, %arg0, %arg1 : vector<2x8xi32>" in known
    assert "arith.cmpf une, %arg2, %arg2 : f32" in known
    assert "arith.cmpi uge, %arg3, %arg3 : index" in known


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "%m = arith.cmpi slt, %a, %b : vector<2x8xi32>",
            '%m = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (vector<2x8xi32>, vector<2x8xi32>) -> i1',
            r"expected a result of vector<2x8xi1>, got i1",
        ),
        (
            "%z = arith.cmpi uge, %i, %i : index",
            '%z = "arith.cmpi"(%i, %i) <{predicate = 10 : i64}> : (index, index) -> i1',
            r"expected a predicate below 10, got 10 : i64",
        ),
        (
            "%u = arith.select %t, %s, %b : vector<2x8xi32>",
            '%u = "arith.select"(%x, %s, %b) : (f32, vector<2x8xi32>, vector<2x8xi32>) -> vector<2x8xi32>',
            r"expected a condition of i1 or vector<2x8xi1>, got f32",
        ),
    ],
)
def test_rules_of_comparisons_and_selects(old: str, new: str, message: str) -> None:
    assert old in SOURCE
    source = SOURCE.replace(old, new)
    if "-> i1" in new and "%m" in new:
        source = source.replace("vector<2x8xi1>, vector<2x8xi32>", "vector<2x8xi32>")
    with pytest.raises(VerifyException, match=message):
        parse(source).verify()


def test_an_unknown_predicate_is_named() -> None:
    with pytest.raises(ParseError, match="expected one of eq, ne, slt"):
        parse(SOURCE.replace("slt", "less"))
