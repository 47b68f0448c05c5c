"""The default configuration: legal on every device, and sensible where people know what is."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import Activation, DType, Gate, GemmProblem, Refused, SlmOperands, SplitK, WorkspaceOperands
from codegen.problem.quantization import Quantization, parse_quantization
from codegen.target import target_of
from codegen.xe.rules import (
    check,
    check_problem,
)
from codegen.xe.rules.case import prepared
from hal import XE_DEVICES, DeviceSpec, find
from tests.tuner.fakes import SMALL, emulated
from tests.tuner.gemm_problems import PROBLEMS
from tuner.model.xe import explain, predict
from tuner.space.xe.axes import ranges_of
from tuner.space.xe.heuristic import (
    Default,
    default_config,
    default_of,
    explain_default,
    ways_of,
)
from tuner.space.xe.points import (
    config_of,
    point_of,
)

B580 = find("b580")


def by_lanes(problem: GemmProblem, spec: DeviceSpec) -> Default:
    """Return the default of those that copy no operand."""
    return default_of(check_problem(problem, spec))


def _targetable(spec: DeviceSpec) -> bool:
    try:
        target_of(spec)
    except Refused:
        return False
    return True


DEVICES = [*(row.spec for row in XE_DEVICES if _targetable(row.spec)), emulated()]


@st.composite
def problems(draw: st.DrawFn) -> GemmProblem:
    dtype = draw(st.sampled_from([DType.F16, DType.BF16, DType.TF32, DType.F32, DType.S8, DType.U8]))
    interleave = draw(st.sampled_from([None, None, 1, 2, 16, 128]))
    n = draw(st.integers(1, 9000 // (interleave or 1))) * (interleave or 1)
    return GemmProblem(
        m=draw(st.integers(1, 9000)),
        n=n,
        k=draw(st.integers(1, 9000)),
        batch=draw(st.sampled_from([1, 1, 7])),
        dtype_a=dtype,
        dtype_b=dtype,
        transpose_a=draw(st.booleans()),
        transpose_b=draw(st.booleans()),
        dynamic=draw(st.booleans()),
        deterministic=draw(st.booleans()),
        gate=draw(st.sampled_from([None, Gate(Activation.SILU, interleave)])),
    )


@pytest.mark.parametrize("interleave", [None, 1, 32])
def test_a_gated_default_holds_both_accumulators_in_the_tiles_of_one_product(interleave: int | None) -> None:
    gated = GemmProblem(4096, 4096, 2048, gate=Gate(Activation.SILU, interleave))
    config, plain = default_config(gated, B580), default_config(GemmProblem(4096, 8192, 2048), B580)
    assert config.sg_m * config.sg_n * 2 == plain.sg_m * plain.sg_n
    block, of_plain = config.matmul.block, plain.matmul.block
    assert (block.m * block.n * 2, block.k) == (of_plain.m * of_plain.n, of_plain.k)


@settings(max_examples=15)
@given(problem=problems(), spec=st.sampled_from(DEVICES))
@pytest.mark.slow
def test_the_default_is_legal(problem: GemmProblem, spec: DeviceSpec) -> None:
    check(problem, default_config(problem, spec), spec)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_default_of_every_kind_of_problem_is_legal_and_a_point(name: str) -> None:
    problem = PROBLEMS[name]
    for spec in (B580, find("max1100"), emulated()):
        config = default_config(problem, spec)
        check(problem, config, spec)
        ranges = ranges_of(prepared(check_problem(problem, spec), config.strategy.workspace))
        point = point_of(problem, config)
        assert config_of(problem, point) == config
        assert all(value in values for value, values in zip(point, ranges, strict=True))


def test_a_large_problem_gets_a_tile_that_was_measured_among_the_fastest() -> None:
    """Of 327 configurations of this shape on a B70: 64x32 of a sub-group, several work-groups on a core."""
    problem = GemmProblem(8192, 4096, 1536, dtype_a=DType.BF16, dtype_b=DType.BF16)
    config = default_config(problem, find("b70"))
    assert (config.sg_m, config.sg_n, config.matmul.block.k) == (64, 32, 32)
    assert config.subgroups in (8, 16)
    assert config.strategy.grf_mode == 256
    assert config.strategy.prefetch.distance == 2


def test_a_very_deep_k_is_split() -> None:
    for device in ("b580", "max1100"):
        problem, spec = GemmProblem(256, 272, 524288), find(device)
        config = default_config(problem, spec)
        assert config.matmul.threads.k >= 8
        threads = replace(config.matmul.threads, k=1)
        whole = replace(config, matmul=replace(config.matmul, threads=threads))
        whole = replace(whole, strategy=replace(config.strategy, split_k=SplitK.NONE))
        assert predict(problem, config, spec).time_us < 0.5 * predict(problem, whole, spec).time_us


def test_prefetched_data_of_all_work_groups_of_a_core_stays_in_l1() -> None:
    for m, n, k in ((4096, 8192, 2048), (32, 6144, 4096), (24, 14336, 2048)):
        config = default_config(GemmProblem(m, n, k), B580)
        assert B580.l1_bytes is not None
        step = (config.matmul.block.m + config.matmul.block.n) * config.matmul.block.k * 2
        assert 32 // config.subgroups * step * (config.strategy.prefetch.distance + 1) <= B580.l1_bytes


def test_a_small_problem_is_spread_over_the_cores() -> None:
    config = default_config(GemmProblem(512, 384, 1024), find("max1550"))
    assert config.matmul.threads.m * config.matmul.threads.n > 32
    one_row = default_config(GemmProblem(1, 4096, 512), find("max1550"))
    assert one_row.matmul.block.m == 8


def test_the_raster_follows_the_smaller_reads() -> None:
    wide, tall = GemmProblem(512, 16384, 1024), GemmProblem(16384, 512, 1024)
    assert default_config(wide, B580).matmul.loop_order is not default_config(tall, B580).matmul.loop_order


def test_large_problems_are_walked_in_groups_and_those_that_stay_in_l2_are_not() -> None:
    assert default_config(GemmProblem(4096, 8192, 2048), B580).strategy.raster_group > 1
    assert default_config(GemmProblem(1024, 1536, 512), B580).strategy.raster_group == 1


def test_prefetch_stays_within_k() -> None:
    assert default_config(GemmProblem(256, 512, 64), B580).strategy.prefetch.distance == 1
    assert default_config(GemmProblem(256, 512, 32), B580).strategy.prefetch.distance == 0


def test_what_lanes_access_is_not_prefetched() -> None:
    assert by_lanes(PROBLEMS["odd"], B580).config.strategy.prefetch.distance == 0
    assert by_lanes(PROBLEMS["odd A alone"], B580).config.strategy.prefetch.distance > 0


@pytest.mark.parametrize(
    ("n", "k", "padded"), [(1001, 999, "both"), (1008, 999, "a"), (1001, 1008, "b"), (1008, 1008, "none")]
)
def test_operands_of_any_pitch_are_copied_for_block_messages(n: int, k: int, padded: str) -> None:
    problem = GemmProblem(1000, n, k)
    default = explain_default(problem, B580)
    assert default.config.strategy.workspace.value == padded
    if padded != "none":
        assert default.steps[-1].name == "workspace"
        lanes = by_lanes(problem, B580).config
        assert 1.5 * predict(problem, default.config, B580).time_us < predict(problem, lanes, B580).time_us
    assert default_config(replace(problem, dynamic=True), B580).strategy.workspace is WorkspaceOperands.NONE
    assert default_config(problem, find("a770")).strategy.workspace is WorkspaceOperands.NONE


@pytest.mark.parametrize(
    ("device", "m", "workspace"), [("max1100", 16384, "b"), ("max1100", 256, "none"), ("b580", 4096, "none")]
)
def test_weights_are_decoded_first_where_conversions_bound_many_rows(device: str, m: int, workspace: str) -> None:
    problem = GemmProblem(
        m, 4096, 3072, dtype_a=DType.BF16, dtype_b=DType.E2M1, quantization=Quantization(32, DType.E8M0)
    )
    default = explain_default(problem, find(device))
    assert default.config.strategy.workspace.value == workspace
    assert default.steps[-1].name == "workspace"
    other = WorkspaceOperands.NONE if workspace == "b" else WorkspaceOperands.B
    slower = default_of(prepared(check_problem(problem, find(device)), other)).config
    assert predict(problem, default.config, find(device)).time_us < predict(problem, slower, find(device)).time_us


def test_weights_and_an_operand_of_any_pitch_have_a_way_each() -> None:
    problem = GemmProblem(200, 144, 176, lda=177, dtype_b=DType.U4, quantization=Quantization(32))
    ways = ways_of(check_problem(problem, B580))
    assert [way.workspace.value for way in ways] == ["none", "both", "a"]
    assert [(way.lanes_a, way.problem.has_weights) for way in ways] == [(True, True), (False, False), (False, True)]


def test_lanes_access_what_is_read_once() -> None:
    assert default_config(GemmProblem(1, 4096, 4095, transpose_b=True), B580).strategy.workspace is (
        WorkspaceOperands.NONE
    )


@pytest.mark.parametrize(
    ("n", "k", "staged"), [(1001, 999, SlmOperands.BOTH), (1008, 999, SlmOperands.A), (1001, 1008, SlmOperands.B)]
)
def test_what_lanes_access_and_sub_groups_share_is_fetched_once(n: int, k: int, staged: SlmOperands) -> None:
    problem = GemmProblem(1000, n, k)
    default = by_lanes(problem, B580)
    assert default.config.subgroups > 1
    assert (default.config.strategy.slm, default.config.strategy.slm_stages) == (staged, 2)
    assert f"shared local memory ({staged.value})" in default.steps[2].why
    plain = replace(default.config, strategy=replace(default.config.strategy, slm=SlmOperands.NONE, slm_stages=0))
    assert predict(problem, default.config, B580).time_us < 0.7 * predict(problem, plain, B580).time_us
    assert default_config(problem, emulated()).strategy.slm is SlmOperands.NONE


def test_what_one_sub_group_multiplies_is_not_staged() -> None:
    config = default_config(GemmProblem(3, 1001, 4097), B580)
    assert config.strategy.sg_layout == (1, 1)
    assert config.strategy.slm is SlmOperands.NONE


@pytest.mark.parametrize("name", ["long K", "long K, deterministic", "long K, f16 out"])
def test_k_is_split_where_tiles_leave_cores_idle(name: str) -> None:
    config = default_config(PROBLEMS[name], B580)
    assert config.strategy.split_k is SplitK.PARTIAL_SUMS
    assert config.matmul.threads.k > 1
    assert default_config(replace(PROBLEMS[name], k=256, lda=None, ldb=None), B580).strategy.split_k is SplitK.NONE


def test_a_batch_that_fills_the_cores_is_not_split() -> None:
    config = default_config(GemmProblem(64, 32, 65536, batch=64), B580)
    assert config.strategy.split_k is SplitK.NONE


@pytest.mark.parametrize("dtype", [DType.F16, DType.TF32, DType.S8])
def test_a_k_step_is_as_many_bytes_of_every_type(dtype: DType) -> None:
    block = default_config(GemmProblem(512, 768, 1024, dtype_a=dtype, dtype_b=dtype), B580).matmul.block
    assert block.k * dtype.nbytes == 64


def test_the_four_steps_say_what_and_why() -> None:
    for problem in (SMALL, *(PROBLEMS[name] for name in ("thin", "odd", "s8", "batch", "long K"))):
        steps = explain_default(problem, emulated()).steps
        assert [step.name for step in steps] == ["innermost", "threads", "block", "loop order"]
        assert "2 CPU cores" in steps[1].why
        assert all(step.choice and step.why for step in steps)


@pytest.mark.parametrize(
    ("name", "reason"), [("odd A alone", "lanes"), ("tt", "transposed"), ("f32", "without DPAS"), ("nt", "of A the")]
)
def test_the_first_step_says_what_loads_follow_from(name: str, reason: str) -> None:
    assert reason in explain_default(PROBLEMS[name], B580).steps[0].why


def test_a_device_that_code_cannot_target_is_refused() -> None:
    with pytest.raises(Refused):
        default_config(SMALL, find("wildcat-lake"))


@pytest.mark.parametrize(
    ("problem", "device", "block_k", "k_unroll"),
    [
        (GemmProblem(4096, 2048, 8192, transpose_b=True), "b580", 32, 2),
        (GemmProblem(1000, 1016, 520, transpose_b=True), "b580", 32, 1),
        (GemmProblem(1000, 1016, 520), "b580", 32, 2),
        (GemmProblem(1000, 1016, 520, dtype_a=DType.TF32, dtype_b=DType.TF32, transpose_b=True), "max1550", 16, 1),
        (GemmProblem(4096, 2048, 1024, dtype_a=DType.F32, dtype_b=DType.F32, transpose_a=True), "max1550", 8, 1),
        (GemmProblem(4096, 2048, 1024, dtype_a=DType.S8, dtype_b=DType.S8, transpose_a=True), "lunar-lake", 64, 2),
        (GemmProblem(1000, 1016, 520, dtype_a=DType.S8, dtype_b=DType.S8), "max1550", 32, 1),  # by lanes
    ],
)
def test_fewer_k_steps_together_where_more_would_spill(
    problem: GemmProblem, device: str, block_k: int, k_unroll: int
) -> None:
    config = by_lanes(problem, find(device)).config
    assert (config.matmul.block.k, config.strategy.k_unroll) == (block_k, k_unroll)


def test_a_tile_of_bytes_by_lanes_is_smaller_than_one_by_messages() -> None:
    lanes, messages = (
        by_lanes(GemmProblem(1000, n, 520, dtype_a=DType.S8, dtype_b=DType.S8, lda=lda), find("lunar-lake")).config
        for n, lda in ((1016, 520), (1024, 528))
    )
    assert lanes.sg_m * lanes.sg_n < messages.sg_m * messages.sg_n


FEW = [(1, 4096, 4096), (1, 14336, 4096), (16, 6144, 4096)]


@pytest.mark.parametrize("device", ["b580", "b70", "max1100"])
@pytest.mark.parametrize(("m", "n", "k"), FEW)
def test_a_few_rows_leave_work_for_each_engine(m: int, n: int, k: int, device: str) -> None:
    spec = find(device)
    for transpose_b in (False, True):
        problem = GemmProblem(m, n, k, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=transpose_b)
        default = explain_default(problem, spec)
        config = default.config
        threads, block = config.matmul.threads, config.matmul.block
        assert spec.xe_cores is not None
        assert spec.eus_per_core is not None
        assert threads.m * threads.n * threads.k // spec.xe_cores * config.subgroups >= spec.eus_per_core
        assert block.m >= m
        assert min(block.n, block.k) * DType.BF16.nbytes >= 64  # whole cache lines, however B is stored
        assert f"{config.subgroups} sub-groups share a tile" in default.steps[2].why
        moved = explain(problem, config, spec)
        assert moved.memory_bytes <= 1.03 * moved.least_bytes


@pytest.mark.parametrize("device", ["b580", "b70", "max1100"])
@pytest.mark.parametrize(("m", "n", "k"), FEW)
def test_a_few_rows_by_weights_leave_work_for_each_engine(m: int, n: int, k: int, device: str) -> None:
    spec, of_groups = find(device), parse_quantization("128:bf16:zero=8")
    for transpose_b in (False, True):
        problem = GemmProblem(
            m, n, k, dtype_a=DType.BF16, dtype_b=DType.U4, transpose_b=transpose_b, quantization=of_groups
        )
        config = default_config(problem, spec)
        threads = config.matmul.threads
        assert spec.xe_cores is not None
        assert spec.eus_per_core is not None
        assert threads.m * threads.n * threads.k // spec.xe_cores * config.subgroups >= spec.eus_per_core
        moved = explain(problem, config, spec)
        assert moved.memory_bytes <= 1.03 * moved.least_bytes


@pytest.mark.parametrize(
    ("problem", "parts"),
    [
        (GemmProblem(17, 4096, 2048), 1),  # more rows
        (GemmProblem(3, 256, 4096), 1),  # fewer tiles than cores
        (GemmProblem(3, 1024, 32), 1),  # fewer parts of K than engines of a core
        (GemmProblem(3, 4096, 64), 2),
        (GemmProblem(3, 4096, 256), 8),
        (GemmProblem(5, 4097, 2049, batch=2), 8),  # by lanes
        (GemmProblem(1, 1024, 65536), 16),
    ],
    ids=str,
)
def test_parts_of_k_are_for_few_rows_of_enough_work(problem: GemmProblem, parts: int) -> None:
    config = default_config(problem, B580)
    assert config.strategy.k_subgroups == parts
    check(problem, config, B580)
    assert default_config(problem, emulated()).strategy.k_subgroups == 1


@pytest.mark.parametrize("transpose_b", [False, True])
def test_registers_of_half_the_size_leave_narrower_tiles_of_few_rows(transpose_b: bool) -> None:
    problem = GemmProblem(16, 6144, 4096, transpose_b=transpose_b)
    widths = [default_config(problem, find(name)).matmul.block.n for name in ("a770", "b580")]
    assert widths == [32, 64]


@pytest.mark.parametrize(("dtype", "depth"), [(DType.U4, 64), (DType.S8, 64)])
def test_weights_of_few_rows_are_decoded_in_registers_that_hold_them_twice(dtype: DType, depth: int) -> None:
    problem = GemmProblem(1, 4096, 2048, dtype_b=dtype, transpose_b=True, quantization=Quantization(128))
    config = default_config(problem, B580)
    assert (config.strategy.k_subgroups, config.matmul.block.k) == (8, depth)
