"""Windows of maintenance on the wire."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from service.schemas import Moment

_ID = "01970a3c-0000-7000-8000-000000000000"


class WindowBody(BaseModel):
    """A time in which no job runs: again and again by cron and duration_s, or once from starts_at to ends_at."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",
        description="Unique name for people",
        examples=["driver updates"],
    )
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",
        description="Id of the device; null: all devices",
        examples=["b580"],
    )
    cron: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="When it begins: minute hour day month weekday",
        examples=["0 22 * * fri"],
    )
    timezone: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="IANA time zone of cron; UTC if left out",
        examples=["Europe/Warsaw"],
    )
    duration_s: StrictInt | None = Field(
        default=None, ge=60, le=7 * 86_400, description="How long it lasts, in seconds", examples=[7200]
    )
    starts_at: Moment | None = Field(
        default=None, description="Begin of a window that is once", examples=["2026-03-06T22:00:00Z"]
    )
    ends_at: Moment | None = Field(default=None, description="Its end", examples=["2026-03-07T00:00:00Z"])


class WindowOut(BaseModel):
    """A window."""

    id: UUID = Field(description="Identifier", examples=[_ID])
    name: str = Field(description="Unique name for people", examples=["driver updates"])
    device: str | None = Field(description="Id of the device; null: all devices", examples=["b580"])
    cron: str | None = Field(description="When it begins; null: it is once", examples=["0 22 * * fri"])
    timezone: str | None = Field(description="IANA time zone of cron", examples=["Europe/Warsaw"])
    duration_s: int | None = Field(description="How long it lasts, in seconds", examples=[7200])
    starts_at: datetime | None = Field(description="Begin of a window that is once, UTC", examples=[None])
    ends_at: datetime | None = Field(description="Its end, UTC", examples=[None])
    open_until: datetime | None = Field(
        description="When it ends, if it is open now, UTC", examples=["2026-03-07T00:00:00Z"]
    )
    opens_at: datetime | None = Field(
        default=None,
        description="When it opens next, UTC; null: never again",
        examples=["2026-03-13T22:00:00Z"],
    )
    created_at: datetime = Field(description="When it was made, UTC", examples=["2026-03-01T12:00:00Z"])


class WindowList(BaseModel):
    """Every window, by name."""

    windows: list[WindowOut] = Field(description="All of them", examples=[[]])
