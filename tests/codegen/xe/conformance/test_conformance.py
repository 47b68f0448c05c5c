"""Upstream's verifier and ours agree: on rules of the specification, and on upstream's tests where available."""

import os
from pathlib import Path

import pytest

from tests.codegen.xe.conformance.judge import judge, pieces_of
from tests.codegen.xe.conformance.page import judge_tree, render

RULES = list(pieces_of(Path(__file__).parent / "rules.mlir"))
PAGE = Path(__file__).parents[4] / "docs/conformance.md"


def title(piece: str) -> str:
    """Return the name of a test: the comment of the piece, which begins with the verdict of both sides or of ours."""
    return piece.strip().splitlines()[0].removeprefix("// ").replace(" ", "_")


REFUSALS = {"valid": (False, False), "invalid": (True, True), "stricter": (False, True)}
"""Refusal by upstream, and by this compiler."""


@pytest.mark.parametrize("piece", RULES, ids=title)
def test_a_rule_of_the_specification(piece: str) -> None:
    judgement = judge(piece)
    refusals = bool(judgement.upstream), bool(judgement.ours)
    assert refusals == REFUSALS[title(piece).partition(":")[0]], judgement


@pytest.mark.slow
def test_the_page_says_how_upstreams_tests_are_judged() -> None:
    root = os.environ.get("MLIR_TESTS")
    if root is None:
        pytest.skip("MLIR_TESTS does not name mlir/test of LLVM's sources; docs/conformance.md says where they are")
    found = judge_tree(Path(root))
    unknown = [(name, j) for name, judged in found.items() for j in judged if not j.alike and not j.reason]
    assert not unknown
    assert render(found) == PAGE.read_text()
