"""Cron expressions mean what crontab(5) says, in their time zone, across changes of the clock."""

from datetime import UTC, datetime, timedelta

import pytest

from service.api.schedules.cron import (
    next_due,
    parse_cron,
    passed,
)
from service.errors import BadRequest

WEDNESDAY = datetime(2026, 3, 4, 12, 0, 30, tzinfo=UTC)


def dues(expression: str, zone: str, after: datetime, count: int, hours: str | None = None) -> list[str]:
    """Return the next due times, in UTC."""
    trigger, found = parse_cron(expression, zone, hours), []
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
    assert dues("30 3 * * *", "Europe/Helsinki", march, 3) == ["Sat 28 01:30", "Sun 29 01:00", "Mon 30 00:30"]
    october = datetime(2026, 10, 24, 23, 50, tzinfo=UTC)
    every_20 = dues("*/20 * * * *", "Europe/Helsinki", october, 7)
    assert every_20[:6] == [f"Sun 25 {h:02}:{m:02}" for h in (0, 1) for m in (0, 20, 40)]


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        # Midnight does not exist on 30 April 2027 in Cairo, nor on 6 September 2026 in Santiago.
        ("0 0 * * *", "Africa/Cairo", (2027, 4, 28, 12), ["Wed 28 22:00", "Thu 29 22:00", "Fri 30 21:00"]),
        ("30 0 * * fri", "Africa/Cairo", (2027, 4, 28, 12), ["Thu 29 22:00", "Thu 06 21:30", "Thu 13 21:30"]),
        ("0 0 * * *", "America/Santiago", (2026, 9, 4, 12), ["Sat 05 04:00", "Sun 06 04:00", "Mon 07 03:00"]),
        ("*/20 0,1 * * *", "America/Santiago", (2026, 9, 6, 3), ["Sun 06 04:00", "Sun 06 04:20", "Sun 06 04:40"]),
        # The hour to midnight is shown twice.
        ("30 23 * * *", "America/Santiago", (2026, 4, 4, 12), ["Sun 05 02:30", "Sun 05 03:30", "Mon 06 03:30"]),
        ("30 23 * * *", "Africa/Cairo", (2026, 10, 29, 12), ["Thu 29 20:30", "Thu 29 21:30", "Fri 30 21:30"]),
        # Half an hour only, and a whole day.
        ("15 2 * * *", "Australia/Lord_Howe", (2026, 10, 2, 18), ["Sat 03 15:30", "Sun 04 15:15"]),
        ("0 12 * * *", "Pacific/Apia", (2011, 12, 29, 12), ["Thu 29 22:00", "Fri 30 10:00", "Fri 30 22:00"]),
    ],
)
def test_a_time_that_the_clock_skips_comes_due_after_the_gap_and_a_repeated_one_twice(
    expression: str, zone: str, after: tuple[int, int, int, int], expected: list[str]
) -> None:
    assert dues(expression, zone, datetime(*after, tzinfo=UTC), len(expected)) == expected


@pytest.mark.parametrize("zone", ["Africa/Cairo", "America/Santiago", "Europe/Helsinki", "Australia/Lord_Howe"])
def test_no_day_is_without_its_due_time(zone: str) -> None:
    trigger, due = parse_cron("0 0 * * *", zone), datetime(2026, 1, 1, tzinfo=UTC)
    for _ in range(730):
        following = next_due(trigger, due)
        assert following is not None
        assert timedelta(0) < following - due <= timedelta(hours=25)
        due = following


def test_the_latest_due_time_of_a_span_includes_its_ends() -> None:
    trigger = parse_cron("0 * * * *", "UTC")
    noon, two = WEDNESDAY.replace(minute=0, second=0), WEDNESDAY.replace(hour=14, minute=0, second=0)
    assert passed(trigger, noon, two, 1).newest == (two,)
    assert passed(trigger, noon, noon, 1).newest == (noon,)
    assert passed(trigger, WEDNESDAY, WEDNESDAY.replace(minute=59), 1).newest == ()


@pytest.mark.parametrize(
    ("expression", "zone", "rule", "message"),
    [
        ("* * * *", "UTC", "cron", "five fields"),
        ("61 * * * *", "UTC", "cron", "minute: expected 0 to 59, .* got '61'$"),
        (
            "a b * d *",
            "UTC",
            "cron",
            "minute: .* got 'a'; hour: .* got 'b'; month: expected 1 to 12, or jan to dec, .* got 'd'",
        ),
        ("*/0 * * * *", "UTC", "cron", r"minute: expected .* got '\*/0'"),
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


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ("20:00-06:00", ["Wed 04 20:00", "Thu 05 00:00", "Thu 05 04:00", "Thu 05 20:00"]),
        ("08:00-12:01", ["Thu 05 08:00", "Thu 05 12:00", "Fri 06 08:00"]),
        ("11:00-12:00", []),
    ],
)
def test_only_times_within_the_hours_are_due(hours: str, expected: list[str]) -> None:
    if expected:
        assert dues("0 */4 * * *", "UTC", WEDNESDAY, len(expected), hours) == expected
    else:
        assert next_due(parse_cron("0 */4 * * *", "UTC", hours), WEDNESDAY) is None


def test_hours_are_those_of_the_zone_when_its_clock_changes() -> None:
    march = datetime(2026, 3, 27, 12, tzinfo=UTC)
    assert dues("0 * * * *", "Europe/Warsaw", march, 3, "02:00-04:00") == [
        "Sat 28 01:00",
        "Sat 28 02:00",
        "Sun 29 01:00",
    ]


@pytest.mark.parametrize("hours", ["20:00", "20:00-25:00", "night-day", "20:00-20:00"])
def test_hours_that_cannot_be_read_are_refused(hours: str) -> None:
    with pytest.raises(BadRequest, match="expected two") as refusal:
        parse_cron("0 * * * *", "UTC", hours)
    assert refusal.value.rule == "hours"
