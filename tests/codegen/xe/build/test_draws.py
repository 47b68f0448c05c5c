"""Legal configurations compile and compute the right numbers: random GEMMs over every axis, one per seed."""

from collections import Counter

import pytest

from codegen import EpilogueKind, LoopOrder
from codegen.config.xe import XE_ORDERS
from codegen.problem.dtype import WEIGHTS
from codegen.xe.rules import check
from hal import find
from tests.codegen.xe.build.draws import draw
from tests.codegen.xe.build.facts import facts_of
from tests.codegen.xe.build.judge import judge
from tests.codegen.xe.isa.fake_ocloc import real_ocloc

PART = 10
PARTS = (*range(0, 20, PART), *(pytest.param(first, marks=pytest.mark.slow) for first in range(20, 300, PART)))
ASKED_OF_INTEL = range(40)

EXPECTED: dict[str, tuple[str, ...]] = {
    "inputs": ("f16", "bf16", "tf32", "f32", "s8", "u8"),
    "output": ("f32", "f16", "bf16", "i32", "s8", "u8"),
    "layout": ("NN", "NT", "TN", "TT"),
    "M": ("1", "2 to 15", "16 and more"),
    "N": ("1", "2 to 15", "16 and more"),
    "K": ("1", "2 to 15", "16 and more"),
    "prefetch": ("none", "l1", "l2_l1", "l1 without hints"),
    "staged": ("none", "a by 2", "b by 3", "both by 4"),
    "splits of K": ("1 none", "2 partial_sums", "2 atomic"),
    "payloads kept": ("false", "true"),
    "prefetch dealt out": ("layout_a", "layout_b"),
    "shared by the batch": ("A", "B"),
    "barrier every": ("0", "1", "2"),
    "raster": ("plain", "grouped"),
    "work-groups": ("a tile each", "some tiles each"),
    "registers pipelined": ("false", "true"),
    "K unrolled by": ("1", "2", "3"),
    "parts of K": ("1", "2", "3", "4"),
    "registers": ("128", "256"),
    "gate": ("none", "silu", "gelu", "gelu_tanh"),
    "B1 and B2": ("one after the other", "blocks of 1", "blocks of 2", "blocks of 16"),
    "asked": ("dynamic", "deterministic"),
    "A by": ("block2d", "lanes"),
    "C by": ("block2d", "lanes"),
    "loop order": tuple(XE_ORDERS),
}


OF_MODELS: dict[str, tuple[str, ...]] = {
    "inputs": ("f16", "bf16", "tf32", "f32", "s8", "u8"),
    "weights": ("none", *WEIGHTS),
    "group": ("column", "16", "32", "48", "64", "128"),
    "scales": ("f16", "bf16", "f32", "e8m0"),
    "zero points": ("none", "one number", "stored"),
    "experts": ("none", "1", "2", "3", "5", "8", "17"),
    "layout": ("NN", "NT", "TN", "TT"),
    "gate": ("none", "silu", "gelu", "gelu_tanh"),
    "workspace": ("none", "a", "b", "both"),
    "prefetch": ("none", "l1", "l2_l1", "l1 without hints"),
    "staged": ("none", "a by 2", "b by 3", "both by 4"),
    "splits of K": ("1 none", "2 partial_sums", "2 atomic"),
    "barrier every": ("0", "1", "2"),
    "raster": ("plain", "grouped"),
    "work-groups": ("a tile each", "some tiles each"),
    "registers pipelined": ("false", "true"),
    "K unrolled by": ("1", "2", "3"),
    "parts of K": ("1", "2", "3", "4"),
    "registers": ("128", "256"),
    "A by": ("block2d", "lanes"),
    "B by": ("block2d", "lanes"),
    "loop order": (LoopOrder.M_OUTER, LoopOrder.N_OUTER),
}


def judged(first: int, of_models: bool = False) -> list[str]:
    """Return the faults of `PART` random GEMMs from seed `first` on."""
    drawn = [draw(seed, small=True, of_models=of_models) for seed in range(first, first + PART)]
    return [f"{d}\n{fault}" for d in drawn if (fault := judge(d, by_validator=d.seed % 5 == 0).fault)]


@pytest.mark.parametrize("first", PARTS)
def test_a_legal_gemm_compiles_and_is_right(first: int) -> None:
    found = judged(first)
    assert not found, "\n".join(found)


MODEL_PARTS = (0, PART, *(pytest.param(first, marks=pytest.mark.slow) for first in range(2 * PART, 300, PART)))


@pytest.mark.parametrize("first", MODEL_PARTS)
def test_a_legal_gemm_of_weights_or_experts_compiles_and_is_right(first: int) -> None:
    found = judged(first, of_models=True)
    assert not found, "\n".join(found)


FEW_ROWS_PARTS = (range(2), *(pytest.param(range(n, n + PART), marks=pytest.mark.slow) for n in range(2, 152, PART)))


@pytest.mark.parametrize("seeds", FEW_ROWS_PARTS, ids=lambda seeds: f"{seeds[0]}")
@pytest.mark.parametrize("of_models", [False, True], ids=["plain", "of models"])
def test_a_legal_gemm_of_few_rows_in_parts_of_k_compiles_and_is_right(of_models: bool, seeds: range) -> None:
    drawn = [draw(seed, small=True, few_rows=True, of_models=of_models) for seed in seeds]
    found = [f"{d}\n{fault}" for d in drawn if (fault := judge(d, by_validator=d.seed % 5 == 0).fault)]
    assert not found, "\n".join(found)


def test_draws_of_few_rows_have_parts_of_k() -> None:
    draws = [draw(seed, small=True, few_rows=True, of_models=True) for seed in range(150)]
    assert max(drawn.problem.m for drawn in draws) <= 16
    assert min(drawn.config.strategy.k_subgroups for drawn in draws) > 1
    assert (
        {drawn.problem.has_weights for drawn in draws}
        == {drawn.problem.experts is None for drawn in draws}
        == {False, True}
    )


NARROW = ("a770", "arl-h", "mtl")  # sub-groups of 8, without 2-D blocks, the last without DPAS
NARROW_PARTS = (range(6), *(pytest.param(range(n, n + PART), marks=pytest.mark.slow) for n in range(6, 206, PART)))


@pytest.mark.parametrize("seeds", NARROW_PARTS, ids=lambda seeds: f"{seeds[0]}")
@pytest.mark.parametrize("device", NARROW)
def test_a_legal_gemm_for_sub_groups_of_8_compiles_and_is_right(device: str, seeds: range) -> None:
    drawn = [draw(seed, small=True, devices=(device,)) for seed in seeds]
    found = [f"{d}\n{fault}" for d in drawn if (fault := judge(d, by_validator=d.seed % 5 == 0).fault)]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("device", NARROW)
def test_the_compiler_of_sub_groups_of_8_takes_a_legal_gemm(device: str) -> None:
    ocloc = real_ocloc()
    for seed in range(20):
        assert not judge(draw(seed, small=True, devices=(device,)), ocloc).fault


@pytest.mark.slow
@pytest.mark.parametrize("seed", ASKED_OF_INTEL)
def test_the_gpu_s_compiler_takes_a_legal_gemm(seed: int) -> None:
    assert not judge(draw(seed, small=True), real_ocloc()).fault


def test_a_seed_is_one_draw() -> None:
    draws = [draw(seed) for seed in range(20)]
    assert draws == [draw(seed) for seed in range(20)]
    assert len({(d.problem.key, d.config.key, d.device) for d in draws}) == len(draws)


@pytest.mark.parametrize(("of_models", "expecting"), [(False, EXPECTED), (True, OF_MODELS)])
def test_draws_are_legal_and_reach_every_axis(of_models: bool, expecting: dict[str, tuple[str, ...]]) -> None:
    draws = [draw(seed, small=seed % 2 == 0, of_models=of_models) for seed in range(600)]
    for drawn in draws:
        check(drawn.problem, drawn.config, find(drawn.device))
    refusals = sum((drawn.refusals for drawn in draws), Counter[str]())
    print(f"refused before, by rule: {dict(refusals.most_common())}")
    assert refusals.total() < len(draws)
    facts = {fact for drawn in draws for fact in facts_of(drawn)}
    for axis, expected in expecting.items():
        assert {value for of, value in facts if of == axis} >= set(expected)
    assert {value.split()[0] for of, value in facts if of == "step"} == set(EpilogueKind)
