"""Schedules on the wire."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from service.jobs.schemas import JobBody


class ScheduleBody(BaseModel):
    """A job to start by the clock."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",  # PostgreSQL keeps no NUL
        description="Unique name for people",
        examples=["nightly 512"],
    )
    cron: str = Field(
        min_length=1,
        max_length=200,
        description="minute hour day month weekday, as crontab has them (weekday 0 and 7 are Sunday)",
        examples=["30 2 * * mon-fri"],
    )
    timezone: str = Field(
        default="UTC",
        min_length=1,
        max_length=100,
        description="IANA time zone the expression is read in",
        examples=["UTC"],
    )
    job: JobBody = Field(
        description="The request each fire makes", examples=[{"problem": {"m": 512, "n": 384, "k": 1024}}]
    )
    misfire_grace_s: StrictInt = Field(
        default=300,
        description="How late a fire may still happen, in seconds; the latest missed one within it fires at start",
        examples=[300],
        json_schema_extra={"minimum": 1},
    )


class FireOut(BaseModel):
    """One due time that was handled."""

    due_at: datetime = Field(description="When it came due, UTC", examples=["2026-01-02T02:30:00Z"])
    fired_at: datetime = Field(description="When it was handled, UTC", examples=["2026-01-02T02:30:03Z"])
    outcome: Literal["created", "joined", "missed", "refused"] = Field(
        description="created a job, joined an identical active one, was missed, or the job was refused",
        examples=["created"],
    )
    job: UUID | None = Field(default=None, description="The job", examples=["01970a3c-0000-7000-8000-000000000000"])
    reason: str | None = Field(default=None, description="Why it was refused", examples=["unknown-device: no device x"])


class ScheduleOut(BaseModel):
    """A schedule, its next run and its last fires."""

    id: UUID = Field(description="Identifier", examples=["01970a3c-0000-7000-8000-000000000000"])
    name: str = Field(description="Unique name for people", examples=["nightly 512"])
    cron: str = Field(description="minute hour day month weekday", examples=["30 2 * * mon-fri"])
    timezone: str = Field(description="IANA time zone", examples=["UTC"])
    job: JobBody | dict[str, object] = Field(
        description="The request each fire makes; as stored when this version cannot read it, then fires are refused",
        examples=[{"problem": {"m": 512, "n": 384, "k": 1024}}],
    )
    misfire_grace_s: int = Field(description="How late a fire may still happen, in seconds", examples=[300])
    enabled: bool = Field(description="False while paused", examples=[True])
    next_due_at: datetime | None = Field(
        default=None, description="Next run, UTC; null while paused", examples=["2026-01-03T02:30:00Z"]
    )
    created_at: datetime = Field(description="When it was made, UTC", examples=["2026-01-01T12:00:00Z"])
    fires: list[FireOut] = Field(description="The last ten handled, newest first", examples=[[]])


class ScheduleList(BaseModel):
    """Every schedule, by name."""

    schedules: list[ScheduleOut] = Field(description="All of them", examples=[[]])
