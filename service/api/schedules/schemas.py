"""Schedules on the wire."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
)
from service.api.shapes.schemas import ShapeSetBody

Kind = Literal["job", "shapes", "stale"]
_ID = "01970a3c-0000-7000-8000-000000000000"
_JOB = {"problem": {"m": 512, "n": 384, "k": 1024}}
_SHAPES = {"text": "m=1,16 n=4096 k=4096", "device": "b580", "budget": {"trials": 50, "seconds": 600.0}}


class MissedBody(BaseModel):
    """What becomes of due times that nothing handled in time, because no service ran."""

    model_config = ConfigDict(extra="forbid")

    policy: Literal["skip", "once", "all"] = Field(
        default="skip",
        description="skip: those more than misfire_grace_s ago get no run; once: one run makes up for all of them; "
        "all: each of the newest `most` gets a run, one after the other has ended",
        examples=["once"],
    )
    most: StrictInt = Field(
        default=1, ge=1, le=100, description="With all: most due times that get a run", examples=[3]
    )


class StaleBody(BaseModel):
    """Tune again what a change of driver, compiler, generator or model made stale."""

    model_config = ConfigDict(extra="forbid")

    devices: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Ids of devices whose results count; null: all",
        examples=[["b580"]],
    )
    most_jobs: StrictInt = Field(
        default=10, ge=1, le=1000, description="Most jobs of one run; the rest waits for the next", examples=[10]
    )
    budget: BudgetBody = Field(
        default_factory=BudgetBody, description="When each job stops", examples=[{"trials": 50, "seconds": 300}]
    )


class ScheduleBody(BaseModel):
    """A schedule: exactly one of `job`, `shapes` and `stale`."""

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
    hours: str | None = Field(
        default=None,
        pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$",
        description="Hours of the day in which it may run, in the time zone; null: all",
        examples=["20:00-06:00"],
    )
    job: JobBody | None = Field(default=None, description="A job that each run queues", examples=[_JOB])
    shapes: ShapeSetBody | None = Field(
        default=None, description="A set of shapes that each run asks for", examples=[_SHAPES]
    )
    stale: StaleBody | None = Field(
        default=None, description="Each run queues jobs for results that are stale", examples=[{"most_jobs": 10}]
    )
    missed: MissedBody = Field(
        default_factory=MissedBody, description="What becomes of missed runs", examples=[{"policy": "once"}]
    )
    misfire_grace_s: StrictInt = Field(
        default=300,
        description="How late a run may be, in seconds, where missed ones are skipped; of several the latest runs",
        examples=[300],
        json_schema_extra={"minimum": 1},
    )


class FireOut(BaseModel):
    """One run, or due times that got none."""

    id: int = Field(description="Number; later ones are larger", examples=[7])
    due_at: datetime = Field(
        description="When it came due, UTC; of one asked for by hand, when that was", examples=["2026-01-02T02:30:00Z"]
    )
    fired_at: datetime = Field(description="When it was handled, UTC", examples=["2026-01-02T02:30:03Z"])
    outcome: Literal["created", "joined", "nothing", "missed", "refused"] = Field(
        description="created work, joined what was active already, nothing was to be done, was missed, or was refused",
        examples=["created"],
    )
    by_hand: bool = Field(description="Whether a person asked for it", examples=[False])
    due_times: int = Field(description="Due times that it stands for; 1000: at least so many", examples=[1])
    jobs: list[UUID] = Field(description="Jobs that it queued or joined", examples=[[_ID]])
    shape_set: UUID | None = Field(default=None, description="The set of shapes that it made or joined", examples=[_ID])
    reason: str | None = Field(
        default=None,
        description="Why it was refused, or what was left out",
        examples=["unknown-device: no device x"],
    )


class FirePage(BaseModel):
    """Runs of a schedule, newest first."""

    fires: list[FireOut] = Field(description="This page", examples=[[]])
    next_before: int | None = Field(description="`before` of the next page; null on the last", examples=[None])


class DueOut(BaseModel):
    """A time at which a schedule will come due."""

    due_at: datetime = Field(description="In UTC", examples=["2026-01-03T01:30:00Z"])
    local: str = Field(description="What a clock of the time zone shows", examples=["2026-01-03 02:30:00 +0100"])


class DueList(BaseModel):
    """The next times, in order."""

    due: list[DueOut] = Field(description="None while paused", examples=[[]])


class ScheduleOut(BaseModel):
    """A schedule, its next run and its last ones."""

    id: UUID = Field(description="Identifier", examples=["01970a3c-0000-7000-8000-000000000000"])
    name: str = Field(description="Unique name for people", examples=["nightly 512"])
    cron: str = Field(description="minute hour day month weekday", examples=["30 2 * * mon-fri"])
    timezone: str = Field(description="IANA time zone", examples=["UTC"])
    hours: str | None = Field(
        default=None, description="Hours of the day in which it may run; null: all", examples=["20:00-06:00"]
    )
    kind: Kind = Field(description="Which of job, shapes and stale it starts", examples=["job"])
    job: JobBody | dict[str, object] | None = Field(
        default=None,
        description="The job that each run queues; as stored when this version cannot read it, then runs are refused",
        examples=[_JOB],
    )
    shapes: ShapeSetBody | dict[str, object] | None = Field(
        default=None, description="The set of shapes that each run asks for", examples=[_SHAPES]
    )
    stale: StaleBody | dict[str, object] | None = Field(
        default=None, description="Which stale results each run tunes again", examples=[{"most_jobs": 10}]
    )
    missed: MissedBody = Field(description="What becomes of missed runs", examples=[{"policy": "once", "most": 1}])
    misfire_grace_s: int = Field(
        description="How late a run may be where missed ones are skipped, in seconds", examples=[300]
    )
    enabled: bool = Field(description="False while paused", examples=[True])
    next_due_at: datetime | None = Field(
        default=None,
        description="The first due time that was not handled, UTC; null while paused",
        examples=["2026-01-03T02:30:00Z"],
    )
    created_at: datetime = Field(description="When it was made, UTC", examples=["2026-01-01T12:00:00Z"])
    fires: list[FireOut] = Field(description="The last ten handled, newest first", examples=[[]])


class ScheduleList(BaseModel):
    """Every schedule, by name."""

    schedules: list[ScheduleOut] = Field(description="All of them", examples=[[]])
