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
    """Policy for due times that were missed because no service ran."""

    model_config = ConfigDict(extra="forbid")

    policy: Literal["skip", "once", "all"] = Field(
        default="skip",
        description="skip: those more than misfire_grace_s ago get no run; once: one run for all of them; all: each "
        "of the newest `most` gets a run, one at a time",
        examples=["once"],
    )
    most: StrictInt = Field(
        default=1, ge=1, le=100, description="With all: maximum number of due times that get a run", examples=[3]
    )


class StaleBody(BaseModel):
    """Resubmission of results made stale by a change of driver, compiler, generator or model."""

    model_config = ConfigDict(extra="forbid")

    devices: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Ids of devices whose results are checked; null: all",
        examples=[["b580"]],
    )
    most_jobs: StrictInt = Field(
        default=10,
        ge=1,
        le=1000,
        description="Maximum number of jobs per run; the rest waits for the next run",
        examples=[10],
    )
    binaries: StrictInt = Field(
        default=0,
        ge=0,
        le=100,
        description="Maximum number of native binaries per run that are rebuilt for the installed compiler's driver",
        examples=[20],
    )
    budget: BudgetBody = Field(
        default_factory=BudgetBody, description="Budget of each job", examples=[{"trials": 50, "seconds": 300}]
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
        description="minute hour day month weekday, as in crontab(5) (weekday 0 and 7 are Sunday)",
        examples=["30 2 * * mon-fri"],
    )
    timezone: str = Field(
        default="UTC",
        min_length=1,
        max_length=100,
        description="IANA time zone of the expression",
        examples=["UTC"],
    )
    hours: str | None = Field(
        default=None,
        pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$",
        description="Hours of the day in which it may run, in the time zone; null: all",
        examples=["20:00-06:00"],
    )
    job: JobBody | None = Field(default=None, description="Job that each run queues", examples=[_JOB])
    shapes: ShapeSetBody | None = Field(
        default=None, description="Set of shapes that each run queues", examples=[_SHAPES]
    )
    stale: StaleBody | None = Field(
        default=None, description="Each run queues jobs for stale results", examples=[{"most_jobs": 10}]
    )
    missed: MissedBody = Field(
        default_factory=MissedBody, description="Policy for missed runs", examples=[{"policy": "once"}]
    )
    misfire_grace_s: StrictInt = Field(
        default=300,
        description="Maximum delay of a run, in seconds, if missed ones are skipped; of several the latest runs",
        examples=[300],
        json_schema_extra={"minimum": 1},
    )


class FireOut(BaseModel):
    """One run, or due times without one."""

    id: int = Field(description="Number; later ones are larger", examples=[7])
    due_at: datetime = Field(description="Due time, UTC; of a manual run, its time", examples=["2026-01-02T02:30:00Z"])
    fired_at: datetime = Field(description="When it was handled, UTC", examples=["2026-01-02T02:30:03Z"])
    outcome: Literal["created", "joined", "nothing", "missed", "refused"] = Field(
        description="created work, joined active work, nothing to do, missed, or refused",
        examples=["created"],
    )
    by_hand: bool = Field(description="Whether it was started by hand", examples=[False])
    due_times: int = Field(description="Number of due times that it covers; 1000: at least that many", examples=[1])
    jobs: list[UUID] = Field(description="Jobs that it queued or joined", examples=[[_ID]])
    shape_set: UUID | None = Field(default=None, description="Set of shapes that it queued or joined", examples=[_ID])
    reason: str | None = Field(
        default=None,
        description="Why it was refused, or what was left out",
        examples=["unknown-device: no device x"],
    )


class FirePage(BaseModel):
    """A page of runs of a schedule, newest first."""

    fires: list[FireOut] = Field(description="This page", examples=[[]])
    next_before: int | None = Field(description="`before` of the next page; null on the last", examples=[None])


class DueOut(BaseModel):
    """A future due time of a schedule."""

    due_at: datetime = Field(description="In UTC", examples=["2026-01-03T01:30:00Z"])
    local: str = Field(description="Local time in the time zone", examples=["2026-01-03 02:30:00 +0100"])


class DueList(BaseModel):
    """Next due times, in order."""

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
    kind: Kind = Field(description="Kind of work: job, shapes or stale", examples=["job"])
    job: JobBody | dict[str, object] | None = Field(
        default=None,
        description="Job that each run queues; as stored if this version cannot read it, then runs are refused",
        examples=[_JOB],
    )
    shapes: ShapeSetBody | dict[str, object] | None = Field(
        default=None, description="Set of shapes that each run queues", examples=[_SHAPES]
    )
    stale: StaleBody | dict[str, object] | None = Field(
        default=None, description="Stale results that each run queues jobs for", examples=[{"most_jobs": 10}]
    )
    missed: MissedBody = Field(description="Policy for missed runs", examples=[{"policy": "once", "most": 1}])
    misfire_grace_s: int = Field(
        description="Maximum delay of a run if missed ones are skipped, in seconds", examples=[300]
    )
    enabled: bool = Field(description="False while paused", examples=[True])
    next_due_at: datetime | None = Field(
        default=None,
        description="First due time that was not handled, UTC; null while paused",
        examples=["2026-01-03T02:30:00Z"],
    )
    created_at: datetime = Field(description="Creation time, UTC", examples=["2026-01-01T12:00:00Z"])
    fires: list[FireOut] = Field(description="Last ten runs, newest first", examples=[[]])


class ScheduleList(BaseModel):
    """All schedules, by name."""

    schedules: list[ScheduleOut] = Field(description="All of them", examples=[[]])
