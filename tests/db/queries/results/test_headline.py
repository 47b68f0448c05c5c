"""Order of headline times."""

from db.queries.results.headline import NEAR, order_us
from tuner.measure import finalists


def test_a_single_run_comes_first_only_if_it_is_faster_than_single_runs_vary() -> None:
    assert NEAR == finalists.NEAR
    assert order_us(100.0, interleaved=True) < order_us(90.0, interleaved=False)
    assert order_us(80.0, interleaved=False) < order_us(100.0, interleaved=True)
