"""A configuration of one shape on another."""

from dataclasses import replace

import pytest

from codegen import CpuConfig, DType, GemmProblem, Refused
from codegen.backend import check_kernel
from hal import find
from tests.tuner.fakes import cpu_spec
from tuner.backend import tuning_for, tuning_of
from tuner.search.problem_search import (
    search_for,
)
from tuner.search.warm_start import adapted, epilogue_class

CPU, B580 = cpu_spec(), find("b580")
SOURCE = GemmProblem(48, 320, 512, dtype_a=DType.F32, dtype_b=DType.F32)


def test_on_its_own_shape_a_configuration_stays_and_what_is_whole_stays_whole() -> None:
    config = tuning_for(CPU).default(SOURCE, CPU)
    assert adapted(config, SOURCE, SOURCE, CPU) is config
    larger = replace(SOURCE, m=96, n=640, k=1024, lda=None, ldb=None, ldc=None,
                     batch_stride_a=None, batch_stride_b=None, batch_stride_c=None)  # fmt: skip
    found = adapted(config, SOURCE, larger, CPU)
    check_kernel(larger, found, CPU)
    tuning = tuning_of(config)
    assert tuning.choices(found, larger, CPU)[:3] == tuning.choices(config, SOURCE, CPU)[:3]


def test_a_tile_has_no_more_rows_than_there_are() -> None:
    one = GemmProblem(1, 320, 512, dtype_a=DType.F32, dtype_b=DType.F32)
    found = adapted(tuning_for(CPU).default(SOURCE, CPU), SOURCE, one, CPU)
    assert isinstance(found, CpuConfig)
    assert found.matmul.innermost.m == 1
    check_kernel(one, found, CPU)


@pytest.mark.parametrize("spec", [CPU, pytest.param(B580, marks=pytest.mark.slow)])
def test_what_is_carried_is_legal_or_a_rule_says_why_not(spec: object) -> None:
    assert spec in (CPU, B580)
    device = CPU if spec is CPU else B580
    dtype = DType.F32 if device is CPU else DType.F16
    source = GemmProblem(24, 40, 56, dtype_a=dtype, dtype_b=dtype)
    other = GemmProblem(16, 72, 96, dtype_a=dtype, dtype_b=dtype)
    search = search_for(source, device, 3, measured=True)
    legal, rules = 0, set[str]()
    for _ in range(40):
        proposal = search.ask()
        assert proposal is not None
        try:
            found = adapted(proposal.config, source, other, device)
        except Refused as refusal:
            rules.add(refusal.rule)
            continue
        check_kernel(other, found, device)
        legal += 1
    assert legal >= 5
    assert all(rules)


def test_a_configuration_of_experts_is_for_experts() -> None:
    few, more = GemmProblem(40, 96, 64, experts=8), GemmProblem(400, 96, 64, experts=16)
    config = tuning_for(B580).default(few, B580)
    check_kernel(more, adapted(config, few, more, B580), B580)
    assert epilogue_class(few) == epilogue_class(more)
    assert epilogue_class(few) != epilogue_class(GemmProblem(40, 96, 64))
