"""The soak test tells memory by the minute."""

from benchmarks.service.soak import by_minute


def test_each_minute_has_its_median() -> None:
    samples = [(0.1, 150.0), (30.0, 180.0), (59.9, 170.0), (60.0, 190.0), (185.0, 200.0), (186.0, 202.0)]
    assert by_minute(samples) == [170.0, 190.0, 201.0]
