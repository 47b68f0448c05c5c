"""Moments on the wire: with a time zone, and in UTC."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError

from service.http.validation_errors import shown


def _is_written_out(moment: object) -> object:
    """Reject numbers, which would be read as seconds since 1970."""
    if isinstance(moment, str | datetime) and (isinstance(moment, datetime) or "-" in moment[1:]):
        return moment
    raise _no_moment("a moment with a time zone, such as 2026-01-02T03:04:05Z", shown(moment))


def _in_utc(moment: datetime) -> datetime:
    """Return the same moment in UTC, as stored in databases."""
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise _no_moment("a moment of the years 1 to 9999 in UTC", moment.isoformat()) from error


def _no_moment(expected: str, came: str) -> PydanticCustomError:
    return PydanticCustomError("datetime_type", "expected {expected}, got {came}", {"expected": expected, "came": came})


Moment = Annotated[AwareDatetime, BeforeValidator(_is_written_out), AfterValidator(_in_utc)]
