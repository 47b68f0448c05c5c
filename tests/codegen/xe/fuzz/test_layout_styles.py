"""Kernels compute the same wherever their layouts stand, and however they differ."""

import pytest

from tests.codegen.xe.fuzz.judge import judge
from tests.codegen.xe.fuzz.layout_styles import draw_layouts

SAMPLE = (0, 1, 3, 10, 14, 19, 162, 621, 1149)
DRAWS, PART = 500, 50


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_style_of_layouts(seed: int) -> None:
    assert judge(draw_layouts(seed)) is None


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_many_styles_of_layouts(first: int) -> None:
    refused = {seed: judge(draw_layouts(seed)) for seed in range(first, first + PART)}
    assert {seed: reason for seed, reason in refused.items() if reason is not None} == {}
