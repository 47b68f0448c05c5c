"""Recordings on the wire. Times are in microseconds, measured elsewhere."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.schemas import ProblemBody

_ID = "01970a3c-0000-7000-8000-000000000000"
_PROBLEM = {"m": 512, "n": 384, "k": 1024}
_TRIED = {
    "number": 3,
    "config": CONFIG_EXAMPLE,
    "status": "measured",
    "time_us": 412.5,
    "min_us": 405.0,
    "p10_us": 407.1,
    "p90_us": 430.0,
    "samples": 30,
    "tried_at": "2026-01-02T03:04:05Z",
}


class RecordingLine(BaseModel):
    """A file that was imported: a problem on a device, measured elsewhere; no kernel is served from it."""

    id: UUID = Field(description="Sorts by time of import", examples=[_ID])
    problem: ProblemBody = Field(description="What was computed, whole", examples=[_PROBLEM])
    device: str = Field(description="Id of the device", examples=["b580"])
    named: str = Field(description="What the file calls the device", examples=["Intel Arc B580 Graphics"])
    label: str = Field(description="Of its times: native, or DPAS emulated", examples=["native"])
    origin: str = Field(description="Where it is from", examples=["the lab"])
    format: str = Field(description="Format of the file", examples=["kernel-tuner"])
    tried: int = Field(description="Configurations in it", examples=[120])
    timed: int = Field(description="Those that have a time", examples=[110])
    best_us: float | None = Field(description="The least time, in us", examples=[412.5])
    imported_at: datetime = Field(description="When it came, UTC", examples=["2026-01-02T03:04:05Z"])


class RecordingPage(BaseModel):
    """Recordings, newest first."""

    recordings: list[RecordingLine] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[None])


class RecordedOut(BaseModel):
    """A configuration of a recording. Its numbers are not proven here."""

    number: int = Field(description="Place in the file, from 0", examples=[3])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    status: str = Field(description="measured, or how it failed", examples=["measured"])
    reason: str | None = Field(
        default=None, description="Why it has no time; null if it has one", examples=["rule registers: ..."]
    )
    time_us: float | None = Field(description="Median, or what the file calls its time, in us", examples=[412.5])
    min_us: float | None = Field(description="Least sample, in us; null if not said", examples=[405.0])
    p10_us: float | None = Field(description="10th percentile, in us; null if not said", examples=[407.1])
    p90_us: float | None = Field(description="90th percentile, in us; null if not said", examples=[430.0])
    samples: int | None = Field(description="How many were timed; null if not said", examples=[30])
    tried_at: datetime | None = Field(description="When, UTC; null if not said", examples=["2026-01-02T03:04:05Z"])


class RecordingOut(RecordingLine):
    """A recording with its configurations, fastest first; those without a time come last."""

    configurations: list[RecordedOut] = Field(description="This page of them", examples=[[_TRIED]])
    next_after: int | None = Field(description="`after` of the next page; null on the last", examples=[None])
