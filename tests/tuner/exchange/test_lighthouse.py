"""Schedule parameters of lighthouse as configurations, and back."""

from dataclasses import replace
from typing import Any

import pytest

from codegen import DType, Extent, GemmProblem, PrefetchLevels, XeConfig
from codegen.xe.rules import violations
from hal import find
from tuner.backend import tuning_for
from tuner.errors import InvalidFile
from tuner.exchange.lighthouse import NAMES, from_parameters, to_parameters

ENTRY: dict[str, int] = dict(zip(NAMES, (
    1024, 2048, 512, 128, 256, 32, 64, 32, 32, 16, 16, 32, 8, 32, 16, 32, 1, 1,
), strict=True))  # fmt: skip


def with_(**changes: Any) -> dict[str, Any]:
    return ENTRY | changes


def test_parameters_become_a_legal_configuration_and_come_back() -> None:
    made = from_parameters(ENTRY)
    matmul, strategy = made.config.matmul, made.config.strategy
    assert (made.size, made.notes) == ((1024, 2048, 512), ())
    assert matmul.threads == Extent(8, 8, 1)
    assert matmul.block == Extent(128, 256, 32)
    assert matmul.innermost == Extent(32, 32, 16)
    assert (strategy.sg_layout, made.config.sg_m, made.config.sg_n) == ((4, 4), 32, 64)
    assert (strategy.prefetch.levels, strategy.prefetch.distance) == (PrefetchLevels.L1, 1)
    assert (strategy.prefetch.layout_a, strategy.prefetch.layout_b) == ((16, 1), (2, 8))
    problem = GemmProblem(1024, 2048, 512)
    assert violations(problem, made.config, find("b70")) == []
    assert to_parameters(problem, made.config) == ENTRY


@pytest.mark.parametrize("device", ["b70", "max1550"])
def test_the_default_of_a_device_is_expressed_with_the_parts_that_the_builder_chooses(device: str) -> None:
    problem, spec = GemmProblem(1024, 2048, 512, dtype_a=DType.BF16, dtype_b=DType.BF16), find(device)
    config = tuning_for(spec).default(problem, spec)
    assert isinstance(config, XeConfig)
    made = to_parameters(problem, config)
    assert made["k_tile"] == config.matmul.block.k * config.strategy.k_unroll
    again = from_parameters(made)
    assert again.notes == ()
    assert to_parameters(problem, again.config) == made
    assert violations(problem, again.config, spec) == []


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"load_a_k": 32}, "load_a_k 32 and load_b_k 16: both are 16 here"),
        ({"prefetch_b_nb": 2}, "prefetch_a_nb 1 and prefetch_b_nb 2: both are 2 here"),
        ({"prefetch_b_n": 16}, "prefetch tiles of B for 2x16 sub-groups: left to the builder"),
    ],
)
def test_what_is_not_expressed_is_said(changes: dict[str, int], note: str) -> None:
    made = from_parameters(with_(**changes))
    assert made.notes == (note,)
    assert violations(GemmProblem(1024, 2048, 512), made.config, find("b70")) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"m": 1}, "n: expected a whole number of at least 1, got None"),
        (with_(wg_m=True), "wg_m"),
        (with_(sg_n=0), "sg_n: expected a whole number of at least 1, got 0"),
        (with_(sg_m=48), "sg_m: expected a divisor of wg_m 128, got 48"),
        (with_(load_a_m=64), "load_a_m: expected a divisor of sg_m 32, got 64"),
        (with_(load_b_k=64), "load_b_k: expected a divisor of k_tile 32, got 64"),
        (with_(prefetch_b_n=96), "prefetch_b_n: expected a divisor of wg_n 256, got 96"),
    ],
)
def test_what_is_no_schedule_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        from_parameters(given)


def test_what_lighthouse_does_not_express_is_refused_by_name() -> None:
    config = from_parameters(ENTRY).config
    split = replace(config, matmul=replace(config.matmul, threads=Extent(8, 8, 2)))
    for problem, of, name in (
        (GemmProblem(1024, 2048, 512), split, "split K"),
        (GemmProblem(1024, 2048, 512, batch=3), config, "batch"),
        (GemmProblem(1024, 2048, 512, transpose_b=True), config, "transposed"),
    ):
        with pytest.raises(InvalidFile, match=name):
            to_parameters(problem, of)
