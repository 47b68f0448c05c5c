"""Formatting of numbers and times with their units."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

from cron_descriptor import FormatError, MissingFieldError, Options, WrongArgumentError, get_description
from markupsafe import Markup

_CRON = Options()
_CRON.use_24hour_time_format = True

_BREAKS = re.compile(r"->|\de-\d")
_TIME_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_AGE_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_BYTE_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def duration(time_us: float, of_us: float | None = None) -> str:
    """Format a time with four significant digits in the unit that fits, or in the one that fits `of_us`: `1.234 ms`."""
    fitting = time_us if of_us is None else of_us
    scale, unit = next((u for u in _TIME_UNITS if fitting >= u[0]), _TIME_UNITS[-1])
    return f"{_significant(time_us / scale)} {unit}"


def least(values: Iterable[float | None]) -> float | None:
    """Return the least value, whose unit all of a table have; None if there is none."""
    return min((value for value in values if value is not None), default=None)


def exact_us(time_us: float) -> str:
    """A time in microseconds with three decimals, for whoever needs the digits."""
    return f"{time_us:,.3f} µs"


def seconds(value: float) -> str:
    """A span of seconds as people say it: `2 h 5 min`."""
    whole = round(value)
    parts: list[str] = []
    for size, unit in _AGE_UNITS:
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def rate(gflops: float, of_gflops: float | None = None) -> str:
    """Format a rate in GFLOP/s, or in TFLOP/s if it, or `of_gflops`, is 10,000 GFLOP/s or more."""
    if (gflops if of_gflops is None else of_gflops) >= 10_000:
        return f"{_significant(gflops / 1000)} TFLOP/s"
    return f"{_significant(gflops)} GFLOP/s"


def size(nbytes: int) -> str:
    """A number of bytes in the binary unit that fits."""
    for unit_bytes, unit in _BYTE_UNITS:
        if nbytes >= unit_bytes:
            return f"{_significant(nbytes / unit_bytes)} {unit}"
    return f"{nbytes} B"


def count(value: int) -> str:
    """A whole number with thousands separated."""
    return f"{value:,}"


def factor(value: float) -> str:
    """Format a ratio: `1.25x`."""
    return f"{value:,.2f}x"


def words(name: str) -> str:
    """An identifier as words: `timed_out` is `timed out`."""
    return name.replace("_", " ")


def unbroken(line: str) -> Markup:
    """A line of HTML in which types and numbers stay whole: browsers break `f16->f32` and `3e-07` after the hyphen."""
    whole = Markup('<span class="number">{}</span>')
    return Markup(" ").join(whole.format(word) if _BREAKS.search(word) else word for word in line.split(" "))


@lru_cache(maxsize=512)
def cron_words(expression: str) -> str:
    """A cron expression in words: `At 02:30, Monday through Friday`; nothing of one that cannot be said so."""
    try:
        return get_description(expression, _CRON)
    except (FormatError, MissingFieldError, WrongArgumentError):
        return ""


def utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is read as UTC, which is how databases without zones keep it."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def exact(moment: datetime) -> str:
    """The moment to the second: `2026-03-01 12:00:00 UTC`."""
    return f"{utc(moment):%Y-%m-%d %H:%M:%S} UTC"


def relative(moment: datetime, now: datetime) -> str:
    """Format the distance of a moment from now: `3 min ago`, `in 2 h`."""
    distance = (utc(now) - utc(moment)).total_seconds()
    if abs(distance) < 1:
        return "now"
    return f"{seconds(distance)} ago" if distance > 0 else f"in {seconds(-distance)}"


def _significant(value: float) -> str:
    if value == 0:
        return "0"
    decimals = 3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0
    return f"{value:,.{decimals}f}"
