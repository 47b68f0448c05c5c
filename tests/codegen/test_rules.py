"""Every rule refuses what it should, by its name, with a message that says what to change."""

import dataclasses

import pytest

from codegen import (
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SlmOperands,
    SplitK,
    XeStrategy,
)
from codegen.rules import CONFIG_RULES, PROBLEM_RULES, check, check_problem, rule_name, violations
from hal import DeviceSpec
from hal.xe import find

PROBLEM = GemmProblem(200, 136, 72)
B580 = find("b580")


def config(
    block: tuple[int, int, int] = (64, 64, 32),
    innermost: tuple[int, int, int] = (32, 32, 32),
    threads: tuple[int, int, int] | None = None,
    sg_layout: tuple[int, int] = (2, 2),
    **strategy: object,
) -> KernelConfig:
    """A legal configuration of PROBLEM unless told otherwise."""
    tiles = (-(-PROBLEM.m // block[0]), -(-PROBLEM.n // block[1]), 1)
    matmul = MatmulConfig(Extent(*(threads or tiles)), Extent(*block), Extent(*innermost), LoopOrder.M_OUTER)
    return KernelConfig(matmul, XeStrategy(sg_layout, **strategy))  # pyright: ignore


def test_a_sensible_configuration_is_legal() -> None:
    assert violations(PROBLEM, config(), B580) == []
    check(PROBLEM, config(prefetch=Prefetch(PrefetchLevels.L1, 3)), B580)


CONFIG_CASES: dict[str, tuple[KernelConfig, str]] = {
    "split-k": (config(threads=(4, 3, 2), split_k=SplitK.PARTIAL_SUMS), "threads k to 1"),
    "strategy-built": (config(slm=SlmOperands.A, slm_stages=2), "slm to none"),
    "prefetch-distance": (config(prefetch=Prefetch(PrefetchLevels.L1, 9)), "at most 8"),
    "grf-mode": (config(grf_mode=64), "[128, 256]"),
    "subgroups-divide-block": (config(sg_layout=(3, 2)), "64x64"),
    "dpas-shape": (config(block=(64, 64, 24)), "8x16x16"),
    "load-block-a": (config(innermost=(64, 32, 32)), "at most 32x32"),
    "load-block-b": (config(innermost=(32, 64, 32)), "at most 32x32"),
    "workgroup-size": (config(block=(1024, 2048, 32), sg_layout=(32, 8)), "4096 work-items"),
    "resident-subgroups": (config(block=(512, 512, 32), innermost=(8, 16, 32), sg_layout=(8, 8)), "32 such threads"),
    "registers": (config(block=(128, 128, 32)), "registers leave"),
    "threads-cover": (config(threads=(1, 1, 1)), "4x3"),
}


@pytest.mark.parametrize("name", CONFIG_CASES)
def test_a_configuration_rule_refuses_by_name(name: str) -> None:
    case, message = CONFIG_CASES[name]
    found = {r.rule: r.message for r in violations(PROBLEM, case, B580)}
    assert name in found
    assert message in found[name]
    with pytest.raises(Refused):
        check(PROBLEM, case, B580)


PROBLEM_CASES: dict[str, tuple[GemmProblem, str]] = {
    "dtype-pair": (GemmProblem(200, 136, 72, dtype_a=DType.S8, dtype_b=DType.S8), "s8 and s8"),
    "row-major": (GemmProblem(200, 136, 72, transpose_b=True), "transposed"),
    "single-matrix": (GemmProblem(200, 136, 72, batch=3), "got 3"),
    "static-sizes": (GemmProblem(200, 136, 72, dynamic=True), "dynamic"),
    "plain-epilogue": (GemmProblem(200, 136, 72, epilogue=(EpilogueStep(EpilogueKind.RELU),)), "relu"),
    "block2d-pitch": (GemmProblem(200, 136, 75), "set lda to 80"),
    "block2d-width": (GemmProblem(200, 136, 16), "at least 64"),
    "block2d-base": (GemmProblem(200, 136, 72, alignment=16), "aligned to 16"),
    "memory": (GemmProblem(2**20, 2**19, 2**14), "GiB"),
}


@pytest.mark.parametrize("name", PROBLEM_CASES)
def test_a_problem_rule_refuses_by_name(name: str) -> None:
    case, message = PROBLEM_CASES[name]
    with pytest.raises(Refused) as caught:
        check_problem(case, B580)
    assert caught.value.rule == name
    assert message in caught.value.message


def test_every_rule_has_a_case() -> None:
    assert {rule_name(r) for r in CONFIG_RULES} == set(CONFIG_CASES)
    assert {rule_name(r) for r in PROBLEM_RULES} == set(PROBLEM_CASES)


@pytest.mark.parametrize(
    ("device", "rule"),
    [("meteor-lake-h", "device-dpas"), ("max1550vg", "device-dpas"), ("a770", "device-subgroup-size")],
)
def test_a_device_that_codegen_cannot_target_is_refused_by_name(device: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        check_problem(PROBLEM, find(device))
    assert caught.value.rule == rule


def test_a_device_without_block_loads_is_refused_by_name() -> None:
    spec: DeviceSpec = dataclasses.replace(B580, block2d=False)
    with pytest.raises(Refused) as caught:
        check_problem(PROBLEM, spec)
    assert caught.value.rule == "device-block2d"


def test_a_row_of_an_odd_number_of_halves_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="pad to 76") as caught:
        check_problem(GemmProblem(200, 136, 75, lda=80), B580)
    assert caught.value.rule == "block2d-width"


def test_padding_the_rows_as_told_makes_the_problem_legal() -> None:
    check_problem(GemmProblem(200, 136, 76, lda=80), B580)
