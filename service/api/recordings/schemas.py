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
    """An imported file: a problem on a device, measured elsewhere; no kernel is served from it."""

    id: UUID = Field(description="Sorts by time of import", examples=[_ID])
    problem: ProblemBody = Field(description="The complete problem", examples=[_PROBLEM])
    device: str = Field(description="Id of the device", examples=["b580"])
    named: str = Field(description="Name of the device in the file", examples=["Intel Arc B580 Graphics"])
    label: str = Field(description="Label of its times: native, or DPAS emulated", examples=["native"])
    origin: str = Field(description="Origin of the results", examples=["the lab"])
    format: str = Field(description="Format of the file", examples=["kernel-tuner"])
    tried: int = Field(description="Configurations in it", examples=[120])
    timed: int = Field(description="Number of configurations that have a time", examples=[110])
    best_us: float | None = Field(description="The least time, in us", examples=[412.5])
    imported_at: datetime = Field(description="Import time, UTC", examples=["2026-01-02T03:04:05Z"])


class RecordingPage(BaseModel):
    """A page of recordings, newest first."""

    recordings: list[RecordingLine] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[None])


class RecordedOut(BaseModel):
    """A configuration of a recording. Its results are not verified here."""

    number: int = Field(description="Index in the file, from 0", examples=[3])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    status: str = Field(description="measured, or how it failed", examples=["measured"])
    reason: str | None = Field(
        default=None, description="Why it has no time; null if it has one", examples=["rule registers: ..."]
    )
    time_us: float | None = Field(description="Median, or the time that the file states, in us", examples=[412.5])
    min_us: float | None = Field(description="Least sample, in us; null if not stated", examples=[405.0])
    p10_us: float | None = Field(description="10th percentile, in us; null if not stated", examples=[407.1])
    p90_us: float | None = Field(description="90th percentile, in us; null if not stated", examples=[430.0])
    samples: int | None = Field(description="Number of samples; null if not stated", examples=[30])
    tried_at: datetime | None = Field(
        description="Time of measurement, UTC; null if not stated", examples=["2026-01-02T03:04:05Z"]
    )


class RecordingOut(RecordingLine):
    """A recording with its configurations, fastest first; those without a time come last."""

    configurations: list[RecordedOut] = Field(description="This page of them", examples=[[_TRIED]])
    next_after: int | None = Field(description="`after` of the next page; null on the last", examples=[None])
