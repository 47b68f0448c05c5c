"""Divergent regions of small control-flow graphs, from a branch to where its lanes reconverge."""

import pytest

from codegen.emulate.control.lanes import analyse
from codegen.emulate.control.regions import RETURN, Flow, Region
from codegen.simulate.llvm_ir.ir import Function
from codegen.simulate.llvm_ir.parser import parse_kernel


def kernel(graph: str) -> Function:
    """Build blocks from lines like `a: b c`: a branch to both, to one, or a return."""
    lines = ["define spir_kernel void @k(i1 %c) {"]
    for line in graph.strip().split("\n"):
        label, _, targets = line.strip().partition(":")
        lines.append(f"{label}:")
        labels = [f"label %{target}" for target in targets.split()]
        lines.append("  ret void" if not labels else f"  br {'i1 %c, ' if len(labels) > 1 else ''}{', '.join(labels)}")
    return parse_kernel("\n".join([*lines, "}"]), "k")


CASES = {
    "one block that some lanes run": ("a: b c\nb: c\nc:", "a", Region("a", ("b",), "c", True)),
    "two ways": ("a: b c\nb: d\nc: d\nd:", "a", Region("a", ("c", "b"), "d", False)),
    "a branch within": ("a: b e\nb: c d\nc: d\nd: e\ne:", "ab", Region("a", ("b", "c", "d"), "e", False)),
    "lanes that return": ("a: b c\nb:\nc:", "a", Region("a", ("c", "b"), RETURN, False)),
    "a loop that lanes leave one by one": ("a: b\nb: b c\nc:", "b", Region("a", ("b",), "c", False)),
    "the round of a loop": ("a: b\nb: c d\nc: d\nd: b e\ne:", "b", Region("b", ("c",), "d", True)),
    # c is also reached from a, all of whose lanes go one way: they are as one with those that part.
    "a way in from elsewhere": ("a: b c\nb: c d\nc: d\nd:", "b", Region("a", ("b", "c"), "d", False)),
}


@pytest.mark.parametrize(("graph", "divergent", "expected"), CASES.values(), ids=CASES.keys())
def test_a_region_is_closed(graph: str, divergent: str, expected: Region) -> None:
    assert Flow(kernel(graph)).regions(divergent) == (expected,)


def test_a_region_within_another_is_part_of_it() -> None:
    flow = Flow(kernel("a: b e\nb: c d\nc: d\nd: e\ne: f g\nf: g\ng:"))
    assert flow.regions("abe") == (Region("a", ("b", "c", "d"), "e", False), Region("e", ("f",), "g", True))


def test_values_of_a_region_that_others_use_differ_between_lanes() -> None:
    lanes = analyse(
        parse_kernel(
            """
define spir_kernel void @k(i32 %n) {
entry:
  %lane = call spir_func i32 @_Z22get_sub_group_local_id()
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %one, label %two
one:
  %own = add i32 %n, 1
  %given = add i32 %n, 2
  %local = add i32 %own, 3
  br label %two
two:
  %same = phi i32 [ %n, %entry ], [ %n, %one ]
  %other = phi i32 [ %n, %entry ], [ %given, %one ]
  %third = phi i32 [ 1, %entry ], [ 2, %one ]
  ret void
}""",
            "k",
        )
    )
    assert lanes.varying == {"lane", "first", "third", "other"}
    assert lanes.crossing == frozenset()
