"""Cron expressions in a time zone: five fields, as in crontab(5), evaluated in UTC.

A local time that occurs twice is due twice; one that is skipped is due at the first moment after the gap.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from service.errors import BadRequest, FieldError

_FIELDS = {
    "minute": ("minute", "0 to 59"),
    "hour": ("hour", "0 to 23"),
    "day": ("day", "1 to 31"),
    "month": ("month", "1 to 12, or jan to dec"),
    "day_of_week": ("weekday", "0 to 7 (0 and 7 are Sunday), or mon to sun"),
}
"""The fields by the library's names: their names in crontab(5), and their ranges."""
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_TICK = timedelta(microseconds=1)
_SHORTEST_SPAN = timedelta(minutes=15)
_COUNTED = 1000
_HORIZON = timedelta(days=366 * 9)  # 29 February can be eight years away


@dataclass(frozen=True, slots=True)
class Hours:
    """A part of each local day, from `begin` to before `end`; an `end` at or before `begin` is on the next day."""

    begin: time
    end: time

    def __contains__(self, local: datetime) -> bool:
        shown = local.time()
        if self.begin < self.end:
            return self.begin <= shown < self.end
        return shown >= self.begin or shown < self.end

    def next_begin(self, local: datetime) -> datetime:
        """Return the first begin after `local`."""
        begin = datetime.combine(local, self.begin)
        return begin if begin > local else begin + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Cron:
    """Due wall-clock times (as if in UTC, which has no gaps), and the time zone of the clock.

    With `hours`, only times within them are due.
    """

    wall: CronTrigger
    zone: ZoneInfo
    hours: Hours | None = None

    def may_run(self, moment: datetime) -> bool:
        """Return whether `moment` lies within the hours."""
        return self.hours is None or moment.astimezone(self.zone).replace(tzinfo=None, fold=0) in self.hours


def parse_cron(expression: str, timezone: str, hours: str | None = None) -> Cron:
    """Return the due times of an expression such as "30 2 * * mon-fri" in an IANA time zone, within `hours`.

    Raises:
        BadRequest: rule `cron`, `timezone` or `hours`, with what is wrong.
    """
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        raise _bad_cron(f"expected five fields (minute hour day month weekday), got {len(fields)}: {expression!r}")
    if fields[2] != "*" and fields[4] != "*":
        raise _bad_cron("restrict the day of the month or the weekday, not both; make two schedules instead")
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _bad("timezone", f"expected an IANA time zone such as Europe/Warsaw, got {timezone!r}") from error
    fields[4] = _weekday_names(fields[4])
    try:
        return Cron(CronTrigger(**dict(zip(_FIELDS, fields, strict=True)), timezone=UTC), zone, _read_hours(hours))
    except ValueError as error:
        raise _bad_cron(_wrong(fields)) from error


def next_due(cron: Cron, after: datetime) -> datetime | None:
    """Return the first due time later than `after`, in UTC; None if there is none within nine years."""
    here = after.astimezone(cron.zone)
    local = here.replace(tzinfo=None, fold=0)
    # If a local time occurs twice, its second occurrence may have been passed once.
    local -= max(_instant(local, cron.zone, fold=1) - _instant(local, cron.zone, fold=0), timedelta(0))
    cron.wall.end_date = local.replace(tzinfo=UTC) + _HORIZON
    repeated: datetime | None = None
    while (shown := cron.wall.get_next_fire_time(None, local.replace(tzinfo=UTC) + _TICK)) is not None:
        local = shown.replace(tzinfo=None)
        if cron.hours is not None and local not in cron.hours:
            local = cron.hours.next_begin(local) - _TICK
            continue
        first, second = (_instant(local, cron.zone, fold) for fold in (0, 1))
        if repeated is None and second > after:
            repeated = second
        if first > after:
            return min(first, repeated or first)
    return repeated


@dataclass(frozen=True, slots=True)
class Passed:
    """Due times that passed: the newest ones in order, and the number before them, counted up to a limit."""

    newest: tuple[datetime, ...]
    earlier: int

    @property
    def number(self) -> int:
        """Number of due times."""
        return self.earlier + len(self.newest)


def passed(cron: Cron, earliest: datetime, now: datetime, most: int) -> Passed:
    """Return the newest due times from `earliest` to `now`, inclusive, at most `most`, and the number before
    them up to 1,000.

    The work is bounded, however long ago `earliest` is.
    """
    newest, earlier, span = (), 0, _SHORTEST_SPAN
    while True:
        begin = max(earliest, now - span)
        found = _between(cron, begin, now, None)
        newest, earlier = found[-most:], len(found[:-most])
        if len(found) >= most or begin == earliest:
            break
        span *= 4
    if newest and begin > earliest:
        earlier = len(_between(cron, earliest, newest[0] - _TICK, _COUNTED))
    return Passed(tuple(newest), min(earlier, _COUNTED))


def _between(cron: Cron, earliest: datetime, now: datetime, most: int | None) -> list[datetime]:
    """Return due times in order from `earliest` to `now`; with `most` the first ones."""
    found: list[datetime] = []
    due = next_due(cron, earliest - _TICK)
    while due is not None and due <= now and len(found) != most:
        found.append(due)
        due = next_due(cron, due)
    return found


def _instant(local: datetime, zone: ZoneInfo, fold: int) -> datetime:
    """Return the UTC time of a local time: the `fold`-th if it occurs twice, the end of the gap if it does
    not occur.
    """
    moment = local.replace(tzinfo=zone, fold=fold).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None, fold=0) == local:
        return moment
    before, behind = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (1, 0))
    offset = behind.astimezone(zone).utcoffset()
    while behind - before > _TICK:
        middle = before + (behind - before) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            behind = middle
        else:
            before = middle
    return behind


def _read_hours(text: str | None) -> Hours | None:
    if text is None:
        return None
    try:
        begin, end = (time.fromisoformat(part) for part in text.split("-"))
    except ValueError as error:
        raise _bad("hours", f"expected two times of day such as 20:00-06:00, got {text!r}") from error
    if begin == end:
        raise _bad("hours", f"expected two different times of day, got {text!r}; leave hours out for the whole day")
    return Hours(begin, end)


def _weekday_names(field: str) -> str:
    # crontab counts weekdays from Sunday = 0 (7 is Sunday too); the library counts from Monday.
    def named(part: str) -> list[str]:
        spelled = re.fullmatch(r"(\d+)(?:-(\d+))?(?:/(\d+))?", part)
        if spelled is None:
            return [part]
        first, step = int(spelled[1]), int(spelled[3] or 1)
        last = int(spelled[2] or (7 if spelled[3] else first))
        if last > 7 or first > last or step < 1:
            raise _bad_cron(f"weekdays are 0 to 7 (0 and 7 are Sunday) in rising order, got {part!r}")
        return [_WEEKDAYS[day % 7] for day in range(first, last + 1, step)]

    if stepped := re.fullmatch(r"\*/(\d+)", field):
        field = f"0-6/{stepped[1]}"
    return ",".join(dict.fromkeys(name for part in field.split(",") for name in named(part)))


def _wrong(fields: list[str]) -> str:
    """Describe the fields that cannot be parsed, with their valid values."""
    found: list[str] = []
    for (name, (called, expected)), field in zip(_FIELDS.items(), fields, strict=True):
        try:
            CronTrigger(**{name: field}, timezone=UTC)
        except ValueError:
            found.append(
                f"{called}: expected {expected}, as numbers, ranges (2-5) and steps (*/2) with commas, got {field!r}"
            )
    return "; ".join(found)


def _bad_cron(message: str) -> BadRequest:
    return _bad("cron", message)


def _bad(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule=field, errors=[FieldError(field=field, message=message)])
