"""Kernels with changed tokens compile or are refused with one message: no traceback, no signal."""

import pytest

from tests.codegen.xe.fuzz.mutations import corpus, faults

DRAWS, PART = 5_000, 250


def test_the_corpus_has_examples_and_documents() -> None:
    assert len(corpus()) > 200


def test_changed_kernels_end_in_one_message() -> None:
    assert list(faults(range(30))) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_many_changed_kernels_end_in_one_message(first: int) -> None:
    assert list(faults(range(first, first + PART))) == []
