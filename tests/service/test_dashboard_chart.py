"""The history chart's layout, the highlighter, units: plain functions."""

import random

import pytest

from service.dashboard import units
from service.dashboard.chart import MAX_DOTS, HistoryPoint, history_chart
from service.dashboard.evidence import TimeEvidence, measured, predicted
from service.dashboard.highlight import MAX_LINES, listing


def timed(number: int, time_us: float) -> HistoryPoint:
    return HistoryPoint(number, "measured", measured(time_us, time_us, time_us, "native", "b580", 1000))


def test_faster_is_lower_and_later_is_further_right() -> None:
    chart = history_chart([timed(0, 100.0), timed(1, 10.0), timed(2, 31.6)])
    (x0, y0), (x1, y1), (x2, y2) = [(d.x, d.y) for d in chart.dots]
    assert (x0, x1, x2) == (0.0, 50.0, 100.0)
    assert y0 < y2 < y1
    assert y2 == pytest.approx((y0 + y1) / 2, abs=0.1), "the axis is logarithmic"


def test_the_best_line_steps_down_and_never_up() -> None:
    chart = history_chart([timed(n, t) for n, t in enumerate((50.0, 80.0, 40.0, 45.0, 20.0))])
    (line,) = chart.lines
    assert [d.point.number for d in chart.dots if d.improves] == [0, 2, 4]
    assert [s.x2 for s in line.steps] == [50.0, 50.0, 100.0, 100.0, 100.0]
    assert all(s.y2 >= s.y1 for s in line.steps)


def test_measured_emulated_and_predicted_have_lines_of_their_own() -> None:
    points = [
        HistoryPoint(0, "predicted", predicted(5.0, 4.0, 9.0, "xe-1", 1000)),
        timed(1, 100.0),
        HistoryPoint(2, "measured", measured(7.0, 7.0, 7.0, "DPAS emulated", "opencl-cpu", 1000)),
        timed(3, 90.0),
    ]
    chart = history_chart(points)
    assert [line.evidence for line in chart.lines] == list(TimeEvidence)
    assert all(dot.improves for dot in chart.dots)


def test_a_long_history_is_thinned_and_keeps_every_improvement() -> None:
    draw = random.Random(3)
    points = [timed(n, 1000.0 / (1 + n / 500) * draw.lognormvariate(0.4, 0.3)) for n in range(5000)]
    chart = history_chart(points)
    improving = sum(p.time.time_us < min((q.time.time_us for q in points[: p.number] if q.time), default=1e9)
                    for p in points if p.time)  # fmt: skip
    assert sum(d.improves for d in chart.dots) == improving
    assert MAX_DOTS / 2 < len(chart.dots) <= MAX_DOTS + improving
    assert len(chart.dots) + chart.thinned == 5000
    assert all(0 <= d.x <= 100 and 0 < d.y < 100 for d in chart.dots)


def test_failures_are_marks_in_the_lane_of_their_kind() -> None:
    points = [timed(0, 9.0)] + [HistoryPoint(n, "rejected" if n % 3 else "crashed", None) for n in range(1, 2000)]
    lanes = {lane.status: lane for lane in history_chart(points).lanes}
    assert set(lanes) == {"rejected", "crashed"}
    assert lanes["crashed"].count == 666
    assert len(lanes["rejected"].marks) <= 161
    assert lanes["rejected"].marks[0].first == 1


@pytest.mark.parametrize("times", [[], [5.0], [5.0, 5.0], [100.0, 103.0], [1.0, 1e7], [0.002, 0.5]])
def test_any_range_of_times_has_labelled_ticks(times: list[float]) -> None:
    chart = history_chart([timed(n, t) for n, t in enumerate(times)])
    assert len(chart.y_ticks) <= 12
    assert bool(chart.y_ticks) == bool(times)
    assert len({t.text for t in chart.y_ticks}) == len(chart.y_ticks)
    assert all(0 <= t.at <= 100 for t in (*chart.x_ticks, *chart.y_ticks))


def test_highlighting_escapes_everything_and_numbers_lines() -> None:
    shown = listing('%0 = xegpu.dpas %a : vector<8x16xf32> // <img src=x>\n!llvm.x = "<b>" & 1\n')
    assert '<span class="t-value">%0</span>' in shown.markup
    assert '<span class="t-op">xegpu.dpas</span>' in shown.markup
    assert "<img" not in shown.markup
    assert "<b>" not in shown.markup
    assert "&amp;" in shown.markup
    assert shown.numbers == "1\n2"


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    shown = listing("x\n" * (MAX_LINES + 25))
    assert (shown.lines, shown.left_out) == (MAX_LINES + 25, 25)
    assert shown.markup.count("\n") == MAX_LINES - 1


@pytest.mark.parametrize(
    ("time_us", "text"),
    [(0.0123, "12.30 ns"), (1.0, "1.000 µs"), (999.94, "999.9 µs"), (1234.5, "1.234 ms"), (2.5e6, "2.500 s")],
)
def test_times_have_four_digits_and_the_unit_that_fits(time_us: float, text: str) -> None:
    assert units.duration(time_us) == text


def test_other_numbers_have_units_too() -> None:
    assert units.rate(783.26) == "783.3 GFLOP/s"
    assert units.rate(81_710.0) == "81.71 TFLOP/s"
    assert units.size(1536) == "1.500 KiB"
    assert units.size(98) == "98 B"
    assert units.seconds(7500) == "2 h 5 min"
    assert units.round_duration(1500.0) == "1.5 ms"
    assert units.round_duration(5000.0) == "5 ms"


def test_a_semicolon_begins_a_comment_in_llvm_ir_and_none_in_a_c_header() -> None:
    header = str(listing("void *pool; /* none; of it */ int32_t x;", ".h").markup)
    assert 'class="t-comment">/* none; of it */</span> int32_t x;' in header
    assert "pool; <span" in header
    assert 'class="t-comment">; the rest</span>' in str(listing("ret void ; the rest", ".ll").markup)
