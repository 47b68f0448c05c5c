"""The default configuration: legal on every device, and sensible where people know what is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import DType, GemmProblem, LoopOrder, Refused
from codegen.rules import check
from codegen.target import target_of
from hal import XE_DEVICES, DeviceSpec, find
from tests.tuner.fakes import SMALL, emulated
from tuner.heuristic import default_config, explain_default


def _targetable(spec: DeviceSpec) -> bool:
    try:
        target_of(spec)
    except Refused:
        return False
    return True


DEVICES = [*(row.spec for row in XE_DEVICES if _targetable(row.spec)), emulated()]


@st.composite
def problems(draw: st.DrawFn) -> GemmProblem:
    dtype = draw(st.sampled_from([DType.F16, DType.BF16]))
    return GemmProblem(
        m=draw(st.integers(1, 9000)),
        n=8 * draw(st.integers(4, 1100)),
        k=8 * draw(st.integers(4, 1100)),
        dtype_a=dtype,
        dtype_b=dtype,
        dtype_c=draw(st.sampled_from([DType.F32, dtype])),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problem=problems(), spec=st.sampled_from(DEVICES))
def test_the_default_is_legal(problem: GemmProblem, spec: DeviceSpec) -> None:
    check(problem, default_config(problem, spec), spec)


def test_a_large_problem_gets_the_tile_that_published_kernels_use() -> None:
    config = default_config(GemmProblem(4096, 8192, 2048), find("b580"))
    assert (config.matmul.block.m, config.matmul.block.n, config.matmul.block.k) == (256, 256, 32)
    assert {config.sg_m, config.sg_n} == {32, 64}
    assert config.strategy.grf_mode == 256
    assert config.strategy.prefetch.distance == 3


def test_a_small_problem_is_spread_over_the_cores() -> None:
    config = default_config(GemmProblem(512, 384, 1024), find("max1550"))
    assert config.matmul.threads.m * config.matmul.threads.n > 32
    one_row = default_config(GemmProblem(1, 4096, 512), find("max1550"))
    assert one_row.matmul.block.m == 8


def test_the_raster_follows_the_smaller_reads() -> None:
    spec = find("b580")
    orders = {default_config(GemmProblem(m, n, 512), spec).matmul.loop_order for m, n in ((4096, 8192), (8192, 4096))}
    assert orders <= set(LoopOrder)
    wide, tall = GemmProblem(512, 16384, 1024), GemmProblem(16384, 512, 1024)
    assert default_config(wide, spec).matmul.loop_order is not default_config(tall, spec).matmul.loop_order


def test_prefetch_stays_within_k() -> None:
    assert default_config(GemmProblem(256, 512, 64), find("b580")).strategy.prefetch.distance == 1
    assert default_config(GemmProblem(256, 512, 32), find("b580")).strategy.prefetch.distance == 0


def test_the_four_steps_say_what_and_why() -> None:
    steps = explain_default(SMALL, emulated()).steps
    assert [step.name for step in steps] == ["innermost", "threads", "block", "loop order"]
    assert "2 CPU cores" in steps[1].why
    assert all(step.choice and step.why for step in steps)


def test_a_device_without_block_loads_is_refused() -> None:
    with pytest.raises(Refused):
        default_config(SMALL, find("a770"))
