"""Refitted GPU configurations: given fields stay, and the others are fitted to them by the rules."""

from dataclasses import replace
from typing import Any

import pytest

from codegen import DType, Extent, GemmProblem, Refused, SlmOperands, XeConfig
from codegen.xe.rules import check
from hal.facts.xe import find
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.refit import refit_xe

PROBLEM, SPEC = GemmProblem(1000, 768, 528), find("b580")
DEFAULT = default_config(PROBLEM, SPEC)


def changed(block: Extent | None = None, **strategy: object) -> XeConfig:
    matmul = DEFAULT.matmul if block is None else replace(DEFAULT.matmul, block=block)
    return XeConfig(matmul, replace(DEFAULT.strategy, **strategy))


@pytest.mark.parametrize(
    "block", [Extent(64, 64, 32), Extent(24, 48, 16), Extent(8, 16, 16), Extent(96, 160, 48), Extent(512, 32, 64)]
)
def test_sub_groups_and_loads_follow_a_block(block: Extent) -> None:
    config = changed(block)
    with pytest.raises(Refused):
        check(PROBLEM, config, SPEC)
    fitted = refit_xe(PROBLEM, config, SPEC, {"block"})
    assert fitted.matmul.block == block
    check(PROBLEM, fitted, SPEC)


def test_a_block_follows_sub_groups() -> None:
    fitted = refit_xe(PROBLEM, changed(sg_layout=(2, 8)), SPEC, {"sg_layout"})
    assert fitted.strategy.sg_layout == (2, 8)
    check(PROBLEM, fitted, SPEC)


def test_loads_follow_staging() -> None:
    config = changed(slm=SlmOperands.BOTH, slm_stages=2)
    fitted = refit_xe(PROBLEM, config, SPEC, {"slm", "slm_stages"})
    assert (fitted.strategy.slm, fitted.strategy.slm_stages) == (SlmOperands.BOTH, 2)
    assert fitted.matmul.innermost == Extent(8, 16, 16)
    check(PROBLEM, fitted, SPEC)


def test_a_tile_follows_fewer_registers() -> None:
    fitted = refit_xe(PROBLEM, changed(grf_mode=128), SPEC, {"grf_mode"})
    assert fitted.strategy.grf_mode == 128
    check(PROBLEM, fitted, SPEC)


@pytest.mark.parametrize(
    ("m", "said"),
    [
        (1000, {"k_subgroups": 4}),  # one tile for the sub-groups of a plain default
        (3, {"sg_layout": (1, 4)}),  # no parts of K where sub-groups share columns, or a staged operand
        (3, {"slm": SlmOperands.B, "slm_stages": 2}),
    ],
)
@pytest.mark.slow
def test_parts_of_k_go_with_one_tile(m: int, said: dict[str, Any]) -> None:
    problem = replace(PROBLEM, m=m)
    default = default_config(problem, SPEC)
    fitted = refit_xe(problem, replace(default, strategy=replace(default.strategy, **said)), SPEC, set(said))
    assert {name: getattr(fitted.strategy, name) for name in said} == said
    assert (fitted.strategy.k_subgroups > 1) == ("k_subgroups" in said)
    check(problem, fitted, SPEC)


def test_what_is_legal_is_left_alone() -> None:
    assert refit_xe(PROBLEM, DEFAULT, SPEC, {"block"}) is DEFAULT


def test_less_is_fetched_ahead_where_there_are_fewer_steps() -> None:
    short = GemmProblem(1000, 768, 64)
    fitted = refit_xe(short, changed(Extent(64, 64, 32)), SPEC, {"block"})
    assert fitted.strategy.prefetch.distance < 2
    check(short, fitted, SPEC)


def test_what_is_said_stays_even_where_it_is_refused() -> None:
    config = changed(Extent(100, 100, 30))
    assert refit_xe(PROBLEM, config, SPEC, {"block"}) == config
    both = changed(Extent(64, 64, 32), sg_layout=(3, 5))
    assert refit_xe(PROBLEM, both, SPEC, {"block", "sg_layout"}) == both


def test_operands_of_other_layouts_have_the_loads_that_their_rules_ask_for() -> None:
    turned = GemmProblem(1000, 768, 528, dtype_a=DType.S8, dtype_b=DType.S8, transpose_a=True, transpose_b=True)
    config = default_config(turned, SPEC)
    config = XeConfig(replace(config.matmul, block=Extent(48, 96, 64)), config.strategy)
    fitted = refit_xe(turned, config, SPEC, {"block"})
    assert fitted.matmul.block == Extent(48, 96, 64)
    check(turned, fitted, SPEC)
