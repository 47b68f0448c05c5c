"""The model of Xe GPUs: what must hold whatever its constants are, and the scale of its times."""

from dataclasses import replace

import numpy as np
import pytest

from codegen import (
    Activation,
    DType,
    Extent,
    Gate,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.quantization import parse_quantization
from codegen.xe.rules import ceil_div
from hal import XE_DEVICES, DeviceSpec, find
from tuner.errors import CannotPredict
from tuner.model.roof import roof_us
from tuner.model.xe import (
    MODEL_VERSION,
    L2Size,
    columns_of,
    columns_of_space,
    explain,
    is_current,
    l2_size,
    predict,
    predict_many,
)
from tuner.space.space import Space
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

B580, B60, MAX1550 = (find(name) for name in ("b580", "b60", "max1550"))
SQUARE = GemmProblem(4096, 4096, 4096)


def _config(
    problem: GemmProblem,
    tile: tuple[int, int] = (256, 256),
    layout: tuple[int, int] = (8, 4),
    distance: int = 3,
    **strategy: object,
) -> XeConfig:
    (m, n), (rows, columns) = tile, layout
    groups = Extent(ceil_div(problem.m, m), ceil_div(problem.n, n), 1)
    load = Extent(min(32, m // rows), min(32, n // columns), 32)
    ahead = Prefetch(PrefetchLevels.L1, distance) if distance else Prefetch()
    plain = XeStrategy(layout, ahead)
    return XeConfig(MatmulConfig(groups, Extent(m, n, 32), load), replace(plain, **strategy))


def _us(problem: GemmProblem, config: XeConfig, spec: DeviceSpec = B580) -> float:
    return predict(problem, config, spec).time_us


def _with(spec: DeviceSpec, **facts: object) -> DeviceSpec:
    provenance = {**spec.provenance, **dict.fromkeys(facts, "derived: for a test")}
    return replace(spec, provenance=provenance, **facts)


def _without(spec: DeviceSpec, fact: str) -> DeviceSpec:
    return replace(spec, provenance={k: v for k, v in spec.provenance.items() if k != fact}, **{fact: None})


def test_the_default_of_a_large_square_is_near_the_peak() -> None:
    tflops = SQUARE.flops / _us(SQUARE, default_config(SQUARE, B580)) / 1e6
    assert 0.40 * 116.7 < tflops < 0.95 * 116.7


@pytest.mark.parametrize("k", [512, 1000, 4096])
def test_more_work_takes_longer(k: int) -> None:
    small, large = GemmProblem(2048, 1024, k), GemmProblem(2048, 1024, 2 * k)
    assert _us(large, _config(large)) > _us(small, _config(small))


def test_wider_elements_of_c_take_longer() -> None:
    narrow, wide = (GemmProblem(4096, 8192, 64, dtype_c=c) for c in (DType.F16, DType.F32))
    assert _us(wide, _config(wide, distance=1)) > _us(narrow, _config(narrow, distance=1))


def test_operands_of_the_epilogue_take_time() -> None:
    plain = GemmProblem(8192, 4096, 64)
    added = replace(plain, epilogue=parse_epilogue("add:f32"))
    assert _us(added, _config(added, distance=1)) > _us(plain, _config(plain, distance=1))


def test_a_batch_takes_longer() -> None:
    one, eight = (GemmProblem(2048, 1024, 1024, batch=batch) for batch in (1, 8))
    assert 3 * _us(one, _config(one)) < _us(eight, _config(eight)) < 9 * _us(one, _config(one))


def test_the_prefetch_cliff_is_between_none_and_one_step() -> None:
    none, one, three = (_us(SQUARE, _config(SQUARE, distance=d)) for d in (0, 1, 3))
    assert 1.2 < none / one < 1.7
    assert one == pytest.approx(three, rel=0.05)


def test_tiles_that_spill_are_far_slower() -> None:
    assert _us(SQUARE, _config(SQUARE, (512, 256))) > 5 * _us(SQUARE, _config(SQUARE))


@pytest.mark.parametrize(
    "problem",
    [
        GemmProblem(4096, 2048, 8192, transpose_b=True),
        GemmProblem(4096, 2048, 8192, transpose_a=True, transpose_b=True),
        GemmProblem(1000, 1008, 999),
        GemmProblem(1000, 1001, 1024),
    ],
    ids=["B by columns", "both by columns", "A by lanes", "B by lanes"],
)
def test_defaults_whose_code_does_not_spill_are_not_predicted_to(problem: GemmProblem) -> None:
    """Intel's offline compiler spills nothing of these: unrolled by two, what lanes fetch staged."""
    config = default_config(problem, B580)
    assert config.strategy.k_unroll == 2
    assert explain(problem, config, B580).registers_spilled == 0


SCREENED = GemmProblem(8192, 4096, 1536, dtype_a=DType.BF16, dtype_b=DType.BF16)
MEASURED = [
    # Times of sycl-tla's code on a B70, in us. It walks along M where C has more tiles along N.
    ((128, 128), (2, 4), LoopOrder.M_OUTER, 667),
    ((128, 256), (4, 4), LoopOrder.M_OUTER, 693),
    ((256, 256), (8, 4), LoopOrder.M_OUTER, 748),
    ((512, 128), (8, 4), LoopOrder.N_OUTER, 1079),
    ((64, 64), (8, 4), LoopOrder.M_OUTER, 1952),
    ((256, 64), (8, 4), LoopOrder.N_OUTER, 2466),
]


def test_tiles_of_one_shape_are_ordered_as_measured() -> None:
    predicted: list[float] = []
    for tile, layout, order, measured_us in MEASURED:
        config = _config(SCREENED, tile, layout, 2)
        config = replace(config, matmul=replace(config.matmul, loop_order=order))
        predicted.append(_us(SCREENED, config, find("b70")))
        assert predicted[-1] == pytest.approx(measured_us, rel=0.25)
    assert predicted == sorted(predicted)


def test_work_groups_that_share_a_core_hide_each_others_stores() -> None:
    wide = GemmProblem(8192, 4096, 1024)
    alone, shared = _config(wide), _config(wide, (256, 128), (4, 4))
    stores_us = 8192 * 4096 * 4 / 456e3
    saved_us = _us(wide, alone) - _us(wide, shared)
    assert 0.4 * stores_us < saved_us < 0.7 * stores_us


def test_prefetched_data_that_l1_does_not_keep_is_fetched_again() -> None:
    parts = [
        predict_many(SQUARE, columns_of([_config(SQUARE, (128, 128), (2, 4), distance)]), B580).parts["l2"][0]
        for distance in (1, 2, 6)
    ]
    assert parts[0] == parts[1]
    assert parts[2] > 2 * parts[1]


def test_a_tile_narrower_than_a_line_fetches_whole_lines() -> None:
    thin = GemmProblem(8, 4096, 4096)
    l2 = [
        predict_many(thin, columns_of([_config(thin, (8, n), (1, n // 16))]), B580).parts["l2"][0] for n in (16, 32, 64)
    ]
    assert l2[0] > 1.4 * l2[1]
    assert l2[1] < 1.3 * l2[2]


def test_code_that_the_compiler_spills_is_expected_to_spill() -> None:
    """Intel's offline compiler spills 8 registers of 32x64 at K steps of 64 with B by columns, none at 32."""
    by_columns = replace(SQUARE, transpose_b=True)
    deep, shallow = (_deep(by_columns, k) for k in (64, 32))
    assert explain(by_columns, deep, B580).registers_spilled > 0
    assert explain(by_columns, shallow, B580).registers_spilled == 0
    assert _us(by_columns, deep) > 1.5 * _us(by_columns, shallow)


def _deep(problem: GemmProblem, k: int) -> XeConfig:
    config = _config(problem)
    return replace(config, matmul=replace(config.matmul, block=replace(config.matmul.block, k=k)))


def test_launch_overhead_and_its_interval_decide_where_little_is_computed() -> None:
    tiny = GemmProblem(64, 48, 32)
    p = predict(tiny, _config(tiny, (32, 32), (1, 1), 0), B580)
    assert 6 < p.time_us < 8
    assert 1 < p.low_us < 3
    assert 20 < p.high_us < 25


def test_rows_that_run_together_read_b_once() -> None:
    problem = GemmProblem(512, 32768, 8192, dtype_a=DType.BF16, dtype_b=DType.BF16)
    plain, grouped = _config(problem), _config(problem)
    grouped = replace(grouped, matmul=replace(grouped.matmul, loop_order=LoopOrder.N_OUTER))
    assert 1.1 < _us(problem, plain, MAX1550) / _us(problem, grouped, MAX1550) < 1.5


@pytest.mark.parametrize("facts", [{"xe_cores": 40}, {"clock_mhz": 4000}, {"bandwidth_bytes_per_s": 912_000_000_000}])
def test_a_larger_device_is_not_slower(facts: dict[str, int]) -> None:
    problem = GemmProblem(8192, 4096, 4096)
    assert _us(problem, _config(problem), _with(B580, **facts)) <= _us(problem, _config(problem), B580)


def test_one_work_group_more_than_cores_is_another_wave() -> None:
    full, more = (GemmProblem(256 * tiles, 256, 4096) for tiles in (20, 21))
    assert _us(more, _config(more)) > 1.4 * _us(full, _config(full))


def test_one_tile_does_not_suit_all_shapes() -> None:
    small = GemmProblem(256, 512, 8192)
    assert _us(small, _config(small)) > 3 * _us(small, _config(small, (64, 64), (4, 2)))


def test_few_tiles_gain_by_splits_of_k() -> None:
    deep = GemmProblem(256, 128, 65536)
    whole = _config(deep, (64, 64), (2, 4))
    split = replace(
        whole,
        matmul=replace(whole.matmul, threads=Extent(4, 2, 8)),
        strategy=replace(whole.strategy, split_k=SplitK.PARTIAL_SUMS),
    )
    assert _us(deep, split) < 0.6 * _us(deep, whole)
    flat = GemmProblem(4096, 4096, 256)
    whole = _config(flat)
    split = replace(
        whole,
        matmul=replace(whole.matmul, threads=Extent(16, 16, 4)),
        strategy=replace(whole.strategy, split_k=SplitK.PARTIAL_SUMS, prefetch=Prefetch()),
    )
    assert _us(flat, split) > _us(flat, whole)


def test_bytes_multiply_faster_and_f32_slower() -> None:
    kinds = [replace(SQUARE, dtype_a=t, dtype_b=t, dtype_acc=a, dtype_c=a) for t, a in _KINDS]
    times = [_us(problem, _config(problem)) for problem in kinds]
    assert times == sorted(times)


_KINDS = ((DType.S8, DType.I32), (DType.F16, DType.F32), (DType.TF32, DType.F32), (DType.F32, DType.F32))


def test_access_by_lanes_is_slower() -> None:
    by_blocks, by_lanes = GemmProblem(4096, 2048, 1024), GemmProblem(4095, 2047, 1023)
    assert _us(by_lanes, _config(by_lanes)) > 1.5 * _us(by_blocks, _config(by_blocks))


@pytest.mark.parametrize("fact", ["clock_mhz", "xe_cores", "bandwidth_bytes_per_s", "eus_per_core"])
def test_a_missing_fact_is_named(fact: str) -> None:
    with pytest.raises(CannotPredict, match=f"{fact} of {B580.name}"):
        predict(SQUARE, _config(SQUARE), _without(B580, fact))


def test_all_missing_facts_are_named_at_once() -> None:
    said = r"^xe_cores, clock_mhz and bandwidth_bytes_per_s of Intel Data Center GPU Max 1450"
    with pytest.raises(CannotPredict, match=said):
        predict(SQUARE, _config(SQUARE), find("max1450"))
    one_mode = _without(_without(B580, "threads_per_eu_by_grf_mode"), "threads_per_eu_large_grf")
    with pytest.raises(CannotPredict, match=r"^threads_per_eu_large_grf of Intel Arc B580 is"):
        predict(SQUARE, _config(SQUARE), one_mode)


def test_the_interval_covers_the_range_of_an_unknown_l2() -> None:
    # All of A and B of 20 MiB fit the likely L2, not the least.
    problem = GemmProblem(2048, 1536, 2560)
    config, unknown = _config(problem, (128, 128), (4, 4)), _without(B580, "l2_bytes")
    size, assumed = l2_size(unknown), predict(problem, config, unknown)
    likely, slow, fast = (
        predict(problem, config, _with(B580, l2_bytes=size)) for size in (size.likely, size.least, size.most)
    )
    assert (assumed.time_us, assumed.low_us, assumed.high_us) == (likely.time_us, fast.low_us, slow.high_us)
    assert assumed.high_us > 1.01 * likely.high_us
    assert assumed.model_version == f"{MODEL_VERSION}, L2 assumed"
    assert is_current(assumed.model_version)
    assert not is_current("xe-1-00000000, L2 assumed")


@pytest.mark.parametrize("name", ["b50", "b65"])
def test_gpus_without_a_stated_l2_are_predicted(name: str) -> None:
    spec = find(name)
    size = l2_size(spec)
    assert spec.l2_bytes is None
    assert size.least < (18 << 20) < size.most  # of the dies, 18 and 24 MiB
    assert predict(SQUARE, default_config(SQUARE, spec), spec).model_version.endswith("L2 assumed")


def test_every_known_l2_is_within_the_range_that_would_be_assumed() -> None:
    for row in XE_DEVICES:
        spec = row.spec
        if spec.l2_bytes is not None and spec.xe_cores is not None:
            size = l2_size(_without(spec, "l2_bytes"))
            assert size.least <= spec.l2_bytes <= size.most, spec.id


def test_an_l2_that_is_stated_is_not_assumed() -> None:
    assert l2_size(B580) == L2Size(18 << 20, 18 << 20, 18 << 20)
    b70 = find("b70")
    assert (b70.l2_bytes, b70.bandwidth_bytes_per_s) == (24 << 20, 608_000_000_000)
    assert predict(SQUARE, _config(SQUARE), b70).model_version == MODEL_VERSION


def test_a_device_that_code_cannot_target_is_refused() -> None:
    with pytest.raises(Refused, match="device-target"):
        predict(SQUARE, _config(SQUARE), find("wildcat-lake"))


def test_a_prediction_carries_its_interval_and_version() -> None:
    prediction = predict(SQUARE, _config(SQUARE), B60)
    assert prediction.low_us < prediction.time_us < prediction.high_us
    assert prediction.model_version == MODEL_VERSION
    staged = predict(SQUARE, _config(SQUARE, slm=SlmOperands.BOTH, slm_stages=2, distance=0), B60)
    assert staged.high_us / staged.time_us > prediction.high_us / prediction.time_us


PROBLEMS: dict[str, GemmProblem] = {
    "square": GemmProblem(1024, 512, 2048),
    "decode": GemmProblem(1, 4096, 14336),
    "ragged": GemmProblem(1000, 1016, 520),
    "by lanes": GemmProblem(333, 1001, 777),
    "batch, transposed": GemmProblem(128, 256, 512, batch=6, transpose_a=True, transpose_b=True),
    "bytes, epilogue": GemmProblem(
        32,
        48,
        64,
        dtype_a=DType.S8,
        dtype_b=DType.S8,
        dtype_c=DType.S8,
        epilogue=parse_epilogue("bias:column, relu"),
    ),
    "f32, sums": GemmProblem(
        256, 192, 320, dtype_a=DType.F32, dtype_b=DType.F32, epilogue=parse_epilogue("beta=1, reduce:row")
    ),
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(problem, marks=() if name == "bytes, epilogue" else pytest.mark.slow, id=name)
        for name, problem in PROBLEMS.items()
    ],
)
def case(request: pytest.FixtureRequest) -> tuple[GemmProblem, Space[XeConfig]]:
    """A problem and its space."""
    return request.param, xe_space(request.param, B580)


@pytest.mark.parametrize(("m", "n", "k"), [(4096, 2048, 1024), (16, 14336, 4096)])
@pytest.mark.parametrize("interleave", [None, 1])
def test_a_gate_takes_the_time_of_both_products(m: int, n: int, k: int, interleave: int | None) -> None:
    gated, both = GemmProblem(m, n, k, gate=Gate(Activation.SILU, interleave)), GemmProblem(m, 2 * n, k)
    assert _us(gated, default_config(gated, B580)) == pytest.approx(_us(both, default_config(both, B580)), rel=0.1)
    assert roof_us(gated, B580) == pytest.approx(roof_us(both, B580), rel=0.2)


@pytest.mark.slow
def test_every_configuration_of_a_space_has_a_time(case: tuple[GemmProblem, Space[XeConfig]]) -> None:
    problem, space = case
    predicted = predict_many(problem, columns_of_space(problem, space), B580)
    assert len(predicted) == len(space)
    for times in (predicted.time_us, predicted.low_us, predicted.high_us):
        assert np.isfinite(times).all()
        assert (times > 0).all()
    for part in predicted.parts.values():
        assert np.isfinite(part).all()
        assert (part >= 0).all()
    peak_us = problem.flops / 1e6 / (2 * 116.74)  # of bytes: no type is faster
    assert (predicted.time_us > peak_us).all()


def test_columns_of_a_space_are_those_of_its_configurations(case: tuple[GemmProblem, Space[XeConfig]]) -> None:
    problem, space = case
    rows = np.random.default_rng(3).choice(len(space), min(50, len(space)), replace=False)
    configs = [space.config(int(row)) for row in rows]
    together = predict_many(problem, columns_of_space(problem, space), B580).time_us[rows]
    assert predict_many(problem, columns_of(configs), B580).time_us == pytest.approx(together)
    assert [predict(problem, config, B580).time_us for config in configs[:5]] == pytest.approx(together[:5])


def test_weights_converted_with_few_free_registers_take_the_clocks_of_their_machine_code() -> None:
    # Clocks of a K step of four threads, of ocloc 26.27's code by the pipeline model: 2566 (64x32), 1042 (64x16).
    weights = GemmProblem(
        *(4096, 4096, 2048),
        dtype_a=DType.BF16,
        dtype_b=DType.U4,
        dtype_c=DType.BF16,
        quantization=parse_quantization("128:bf16:zero=8"),
    )
    wide, narrow = (_of_subgroups(weights, columns) for columns in (32, 16))
    assert wide / narrow == pytest.approx(2566 / (2 * 1042), rel=0.08)
    plain = GemmProblem(4096, 4096, 2048, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16)
    wide, narrow = (_of_subgroups(plain, columns) for columns in (32, 16))
    assert wide < 1.01 * narrow


def _of_subgroups(problem: GemmProblem, columns: int) -> float:
    """Return the time of K loops and the rest with 8 sub-groups of 64 rows each."""
    matmul = MatmulConfig(
        block=Extent(64, 8 * columns, 32),
        innermost=Extent(32, 16, 32),
        threads=Extent(problem.m // 64, problem.n // (8 * columns), 1),
    )
    near = Prefetch(levels=PrefetchLevels.L1, distance=1)
    return predict(problem, XeConfig(matmul, XeStrategy(sg_layout=(1, 8), grf_mode=256, prefetch=near)), B580).time_us
