"""Units and the highlighter: plain functions."""

import pytest

from service.dashboard import units
from service.dashboard.highlight import MAX_LINES, listing
from service.dashboard.units import cron_words


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
    assert units.factor(1234.567) == "1,234.57x"


def test_a_semicolon_begins_a_comment_in_llvm_ir_and_none_in_a_c_header() -> None:
    header = str(listing("void *pool; /* none; of it */ int32_t x;", ".h").markup)
    assert 'class="t-comment">/* none; of it */</span> int32_t x;' in header
    assert "pool; <span" in header
    assert 'class="t-comment">; the rest</span>' in str(listing("ret void ; the rest", ".ll").markup)


def test_a_cron_expression_is_said_in_words() -> None:
    assert cron_words("30 2 * * mon-fri") == "At 02:30, Monday through Friday"
    assert cron_words("*/15 9-17 1 * *") == "Every 15 minutes, between 09:00 and 17:59, on day 1 of the month"
    for unsaid in ("", "1 2", "a b c d e", "15 2 2nd mon *"):
        assert cron_words(unsaid) == ""


def test_types_of_a_problem_stay_whole_and_everything_is_escaped() -> None:
    line = units.unbroken("8x16x32 f16->f32 3.1e-07, off-line <b>")
    whole = '<span class="number">f16-&gt;f32</span> <span class="number">3.1e-07,</span>'
    assert line == f"8x16x32 {whole} off-line &lt;b&gt;"


def test_times_and_rates_of_a_table_have_one_unit() -> None:
    times = [1234.5, None, 987.0, 25_000.0]
    assert [units.duration(time, units.least(times)) for time in times if time is not None] == [
        "1,234 µs",
        "987.0 µs",
        "25,000 µs",
    ]
    assert units.least([None]) is None
    assert (units.rate(9_000.0, 50_000.0), units.rate(50_000.0)) == ("9.000 TFLOP/s", "50.00 TFLOP/s")
