"""Random kernels compute what the interpreter says, or are refused by name."""

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from codegen.errors import CodegenError
from tests.codegen.xe.fuzz.draw import draw
from tests.codegen.xe.fuzz.judge import judge

SAMPLE = (0, 4, 10, 14)
DRAWS, PART = 400, 25
MOST_REFUSED = 0.1


def test_a_seed_is_one_kernel() -> None:
    sources = [draw(seed).source for seed in range(20)]
    assert sources == [draw(seed).source for seed in range(20)]
    assert len(set(sources)) == len(sources)


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_drawn_kernel_computes_what_the_interpreter_says(seed: int) -> None:
    assert judge(draw(seed)) is None


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_many_drawn_kernels_compute_what_the_interpreter_says(first: int) -> None:
    refused, failed = _judged(set(range(first, first + PART)))
    for reason, count in refused.most_common():
        print(f"{count} refused: {reason}")
    assert not failed, "\n".join(failed)
    assert refused.total() <= MOST_REFUSED * PART


def _judged(seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Count reasons of refusals, without their numbers, and list what went wrong."""
    refused: Counter[str] = Counter()
    failed: list[str] = []
    for seed in seeds:
        try:
            if (reason := judge(draw(seed))) is not None:
                refused[re.sub(r"\d+", "N", reason)] += 1
        except (AssertionError, CodegenError) as error:
            failed.append(f"seed {seed}: {error}")
    return refused, failed
