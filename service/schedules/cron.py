"""Cron expressions in a time zone: five fields, as crontab(5) counts them, worked out in UTC.

A local time that a clock change repeats comes due twice; one that it skips comes due right after.
"""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from service.errors import BadRequest, FieldError

_FIELDS = ("minute", "hour", "day", "month", "day_of_week")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_HORIZON = timedelta(days=366 * 9)  # 29 February can be eight years away


def parse_cron(expression: str, timezone: str) -> CronTrigger:
    """The trigger of an expression such as "30 2 * * mon-fri" in an IANA time zone.

    Raises:
        BadRequest: rule `cron` or `timezone`, with what is wrong.
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
        return CronTrigger(**dict(zip(_FIELDS, fields, strict=True)), timezone=zone)
    except ValueError as error:
        raise _bad_cron(f"cannot read {expression!r}: {error}") from error


def next_due(trigger: CronTrigger, after: datetime) -> datetime | None:
    """The first due time later than `after`, in UTC; None when there is none within nine years."""
    # The library compares local times, which repeat when clocks go back: everything stays in UTC here.
    trigger.end_date = after.astimezone(UTC) + _HORIZON
    found: datetime | None = trigger.get_next_fire_time(None, after.astimezone(UTC) + timedelta(microseconds=1))
    return None if found is None else found.astimezone(UTC)


def latest_due(trigger: CronTrigger, earliest: datetime, now: datetime) -> datetime | None:
    """The last due time from `earliest` to `now`, both included; None when there is none."""
    latest, found = None, next_due(trigger, earliest - timedelta(microseconds=1))
    while found is not None and found <= now:
        latest, found = found, next_due(trigger, found)
    return latest


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


def _bad_cron(message: str) -> BadRequest:
    return _bad("cron", message)


def _bad(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule=field, errors=[FieldError(field=f"body.{field}", message=message)])
