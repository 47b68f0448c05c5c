"""Cron expressions mean what crontab(5) says, in their time zone, across changes of the clock."""

from datetime import UTC, datetime

import pytest

from service.errors import BadRequest
from service.schedules.cron import latest_due, next_due, parse_cron

WEDNESDAY = datetime(2026, 3, 4, 12, 0, 30, tzinfo=UTC)


def dues(expression: str, zone: str, after: datetime, count: int) -> list[str]:
    """The next due times, in UTC."""
    trigger, found = parse_cron(expression, zone), []
    while len(found) < count:
        due = next_due(trigger, after)
        assert due is not None
        assert due > after
        after = due
        found.append(due.strftime("%a %d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("*/20 * * * *", ["Wed 04 12:20", "Wed 04 12:40", "Wed 04 13:00"]),
        ("30 2 * * *", ["Thu 05 02:30", "Fri 06 02:30", "Sat 07 02:30"]),
        ("0 0 * * 0", ["Sun 08 00:00", "Sun 15 00:00", "Sun 22 00:00"]),
        ("0 0 * * 7", ["Sun 08 00:00", "Sun 15 00:00", "Sun 22 00:00"]),
        ("0 0 * * 1-5", ["Thu 05 00:00", "Fri 06 00:00", "Mon 09 00:00"]),
        ("0 0 * * 5-7", ["Fri 06 00:00", "Sat 07 00:00", "Sun 08 00:00"]),
        ("0 0 * * */3", ["Sat 07 00:00", "Sun 08 00:00", "Wed 11 00:00"]),
        ("0 0 * * mon,3", ["Mon 09 00:00", "Wed 11 00:00", "Mon 16 00:00"]),
        ("0 0 31 * *", ["Tue 31 00:00", "Sun 31 00:00", "Fri 31 00:00"]),
    ],
)
def test_expressions_are_read_as_crontab_does(expression: str, expected: list[str]) -> None:
    assert dues(expression, "UTC", WEDNESDAY, 3) == expected


def test_the_zone_decides_and_changes_of_the_clock_neither_skip_nor_repeat_a_day() -> None:
    march = datetime(2026, 3, 27, 12, tzinfo=UTC)
    assert dues("0 12 * * *", "Europe/Helsinki", march, 3) == ["Sat 28 10:00", "Sun 29 09:00", "Mon 30 09:00"]
    assert dues("30 3 * * *", "Europe/Helsinki", march, 3) == ["Sat 28 01:30", "Sun 29 01:30", "Mon 30 00:30"]
    october = datetime(2026, 10, 24, 23, 50, tzinfo=UTC)
    every_20 = dues("*/20 * * * *", "Europe/Helsinki", october, 7)
    assert every_20[:6] == [f"Sun 25 {h:02}:{m:02}" for h in (0, 1) for m in (0, 20, 40)]


def test_the_latest_due_time_of_a_span_includes_its_ends() -> None:
    trigger = parse_cron("0 * * * *", "UTC")
    noon, two = WEDNESDAY.replace(minute=0, second=0), WEDNESDAY.replace(hour=14, minute=0, second=0)
    assert latest_due(trigger, noon, two) == two
    assert latest_due(trigger, noon, noon) == noon
    assert latest_due(trigger, WEDNESDAY, WEDNESDAY.replace(minute=59)) is None


@pytest.mark.parametrize(
    ("expression", "zone", "rule", "message"),
    [
        ("* * * *", "UTC", "cron", "five fields"),
        ("61 * * * *", "UTC", "cron", "higher than the maximum"),
        ("a b * d *", "UTC", "cron", "cannot read"),
        ("*/0 * * * *", "UTC", "cron", "higher than 0"),
        ("0 0 * * 8", "UTC", "cron", "0 to 7"),
        ("0 0 * * 5-2", "UTC", "cron", "rising order"),
        ("0 0 1 * 1", "UTC", "cron", "not both"),
        ("* * * * *", "Mars/Olympus", "timezone", "Mars/Olympus"),
        ("* * * * *", "../etc/passwd", "timezone", "IANA"),
        ("* * * * *", "", "timezone", "IANA"),
    ],
)
def test_bad_expressions_and_zones_say_what_is_wrong(expression: str, zone: str, rule: str, message: str) -> None:
    with pytest.raises(BadRequest, match=message) as caught:
        parse_cron(expression, zone)
    assert caught.value.rule == rule


def test_a_day_that_does_not_exist_never_comes_due() -> None:
    assert next_due(parse_cron("0 0 30 2 *", "UTC"), WEDNESDAY) is None
    leap = next_due(parse_cron("0 0 29 2 *", "UTC"), datetime(2096, 3, 1, tzinfo=UTC))
    assert leap == datetime(2104, 2, 29, tzinfo=UTC)
