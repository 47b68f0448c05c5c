"""Kernels with changed tokens compile or are refused with one message: no traceback, no signal."""

from collections import Counter
from functools import partial

import pytest

from benchmarks.compiler.mutants import uploaded
from codegen.errors import CompileFailed
from hal.facts.xe import find
from tests.codegen.xe.fuzz.mutations import check_place, corpus, faults, verdicts

DRAWS, PART = 5_000, 250


def test_the_corpus_has_examples_and_documents() -> None:
    assert len(corpus()) > 200


@pytest.mark.parametrize("message", ["kernel.mlir: wrong", "kernel.mlir:3:5: wrong", "kernel.mlir:3:5: wrong\n  %a"])
def test_a_message_without_place_or_caret_is_a_fault(message: str) -> None:
    check_place(CompileFailed("source", "kernel.mlir:3:5: wrong\n    %a\n    ^"))
    with pytest.raises(AssertionError, match="expected a place and a caret"):
        check_place(CompileFailed("source", message))


@pytest.mark.slow
def test_changed_kernels_end_in_one_message() -> None:
    assert faults(range(30)) == []


def test_changed_uploads_are_compiled_or_refused() -> None:
    found = list(verdicts(range(2_000, 2_200), partial(uploaded, find("b580"))))
    assert [verdict for verdict in found if verdict.fault] == []
    words = Counter(verdict.word for verdict in found)
    assert words.total() == 200
    assert min(words["compiled"], words["refused in source"]) > 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_many_changed_kernels_end_in_one_message(first: int) -> None:
    assert faults(range(first, first + PART)) == []
