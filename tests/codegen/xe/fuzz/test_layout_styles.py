"""Kernels compute the same wherever their layouts stand, and however they differ."""

from itertools import product

import pytest

from tests.codegen.xe.fuzz.judge import judge
from tests.codegen.xe.fuzz.layout_styles import draw_layouts

SAMPLE = (0, 1, 3, 10, 14, 19, 162, 621, 1149)
DRAWS, PART = 1_000, 50


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_style_of_layouts(seed: int) -> None:
    assert judge(draw_layouts(seed)) is None


def test_draws_have_all_combinations() -> None:
    drawn = [draw_layouts(seed).steps for seed in range(DRAWS)]
    kernels = ("copy", "product", "reduction of dimension 0", "reduction of dimension 1")
    orders = ("order = [0, 1]", "order = [1, 0]", "no order")
    for style in ("descriptors", "operations", "mixed"):
        found = {(rounds, order, kernel) for of, rounds, order, kernel in drawn if of == style}
        for order, kernel in product(orders, kernels):
            assert any(("several rounds" in r, o, k) == (True, order, kernel) for r, o, k in found), (
                style,
                order,
                kernel,
            )
    assert {("none", "no layout", "no layout", kernel) for kernel in kernels} <= set(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_many_styles_of_layouts(first: int) -> None:
    refused = {seed: judge(draw_layouts(seed)) for seed in range(first, first + PART)}
    assert {seed: reason for seed, reason in refused.items() if reason is not None} == {}
