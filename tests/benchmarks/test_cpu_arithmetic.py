import numpy as np
import pytest

from benchmarks.cpu import timing
from benchmarks.cpu.buffers import (
    as_floats,
    operands,
)
from benchmarks.cpu.cases import (
    Case,
    cases,
)
from benchmarks.cpu.rows import (
    DEFAULT,
    OURS,
    TORCH,
    Row,
    scaling_table,
    summary,
    table,
)
from benchmarks.cpu.timing import (
    Contender,
    Measured,
    Times,
    measure,
)
from codegen import DType


def _times(*wall_us: float) -> Times:
    return Times(wall_us, tuple(2 * each for each in wall_us))


def _row(m: int, threads: int, ours: float, torch: float, peak_gops: float = 100.0) -> Row:
    times = {OURS: _times(ours), TORCH: _times(torch), DEFAULT: _times(2 * ours)}
    case = Case(m, 200, 300, DType.F32)
    return Row(case, threads, Measured(times, 0), None, peak_gops, "winner", "default")


def test_shapes_are_named_or_spelled_and_each_comes_once() -> None:
    found = cases("3x5x7,16x4096x14336t,3x5x7", "f32,s8")
    assert [c.name for c in found] == [
        "f32 3x5x7", "f32 16x4096x14336 [N,K]", "s8 3x5x7", "s8 16x4096x14336 [N,K]",
    ]  # fmt: skip
    assert found[0].operations == 2 * 3 * 5 * 7
    assert found[3].problem.transpose_b
    assert found[3].problem.dtype_c is DType.I32
    assert len(cases("all", "bf16")) == len(cases("small,llm,ragged", "bf16")) == 38


@pytest.mark.parametrize(("shapes", "dtypes"), [("3x5", "f32"), ("3x5x7", "u8"), ("tall", "f32")])
def test_what_is_no_shape_or_type_is_refused(shapes: str, dtypes: str) -> None:
    with pytest.raises(ValueError, match=r"got|not a valid|invalid literal"):
        cases(shapes, dtypes)


def test_times_are_ordered_before_they_are_counted() -> None:
    times = _times(*range(20, 0, -1))
    assert (times.median_us, times.median_cpu_us) == (10.5, 21.0)
    assert (times.percentile_us(10), times.percentile_us(90)) == (3, 19)
    assert times.spread == pytest.approx(19 / 3)
    assert _times(4.0).percentile_us(100) == 4.0


def test_ratios_are_of_medians_the_other_over_ours() -> None:
    row = _row(100, 2, ours=4.0, torch=6.0)
    assert row.ratio(TORCH) == 1.5
    assert row.ratio(TORCH, DEFAULT) == 0.75
    assert row.ratio(TORCH, cpu=True) == 1.5
    assert row.ratio(TORCH, hot=True) is None
    assert row.ratio("numpy") is None
    # 12 million operations in 4 us are 3,000 GOP/s.
    assert row.share_of_peak == pytest.approx(3000 / 100)


def test_the_summary_is_a_geometric_mean_with_the_worst() -> None:
    rows = [_row(100, 2, 1.0, 4.0), _row(50, 2, 2.0, 1.0), _row(70, 1, 1.0, 1.0)]
    two, one = summary(rows)[2:4]
    assert [cell.strip() for cell in two.split("|")[1:5]] == ["f32", "2", "2", "1.41"]  # sqrt(4 * 0.5)
    assert "f32 50x200x300: 0.50 | 50% |" in two
    assert [cell.strip() for cell in one.split("|")[1:5]] == ["f32", "1", "1", "1.00"]
    assert "| 1.00 |" in table(rows)[-1]


def test_columns_that_nothing_fills_are_left_out_of_the_summary() -> None:
    head, rule = summary([_row(100, 2, 1.0, 4.0)])[:2]
    assert head == "| type | threads | cases | torch / ours | torch / default | worst | below 0.8 |"
    assert rule == "|---|---:|---:|---:|---:|---|---:|"


def test_scaling_has_a_ratio_for_each_number_of_threads_and_their_means() -> None:
    lines = scaling_table(
        [_row(100, 1, 8.0, 8.0), _row(100, 4, 2.0, 3.0), _row(50, 1, 1.0, 4.0), _row(50, 4, 6.0, 1.0)]
    )
    assert lines[0] == "| problem | 1 thread | 4 threads |"
    assert lines[2] == "| f32 100x200x300 | 1.00 | 1.50 |"
    assert lines[-1] == "| f32, geometric mean | 2.00 | 0.50 |"


def test_a_run_that_is_spread_widely_is_taken_again_and_the_narrowest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([_times(1.0, 9.0), _times(2.0, 8.0), _times(3.0, 3.0), _times(4.0, 4.0)])
    monkeypatch.setattr(timing, "_interleaved", lambda *_: {OURS: next(runs)})
    measured = measure({OURS: Contender(lambda _: None)}, 1, 0.0, 1, 1, again=3)
    assert (measured.times[OURS].wall_us, measured.again) == ((3.0, 3.0), 2)


def test_contenders_take_turns_on_sets_one_after_another() -> None:
    seen: dict[str, list[int]] = {"a": [], "b": []}
    contenders = {name: Contender(numbers.append) for name, numbers in seen.items()}
    measured = measure(contenders, 3, 0.0, 2, 1, again=0)
    assert {len(times.wall_us) for times in measured.times.values()} == {2}
    for numbers in seen.values():
        assert set(numbers) == {0, 1, 2}


def test_operands_fill_what_is_asked_for_and_are_the_numbers_of_their_type() -> None:
    case = Case(3, 5, 7, DType.BF16, by_columns=True)
    sets = operands(case, 1000)
    assert len(sets) == -(-1000 // (2 * (3 * 7 + 5 * 7 + 3 * 5)))
    assert (sets[0].a.shape, sets[0].b.shape, sets[0].c.shape) == ((3, 7), (5, 7), (3, 5))
    assert (sets[0].a == sets[-1].a).all()
    values = as_floats(sets[0].a, DType.BF16)
    assert np.abs(values).max() <= 0.5
    assert len(np.unique(values)) > 10
