"""Lookups of many problems at once on the wire."""

from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from service.api.kernels.lookup.schemas import (
    LookupOut,
    Source,
)
from service.api.kernels.schemas import Tune
from service.errors import NextRequest
from service.schemas import ProblemBody

MOST = 1_000
"""Problems of one batch."""
_PROBLEM = {"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}
_ID = "01970a3c-0000-7000-8000-000000000000"


class Form(StrEnum):
    """How the answers are said: each whole, or what a program needs first, in columns."""

    WHOLE = "whole"
    COLUMNS = "columns"


class BatchBody(BaseModel):
    """Which kernels are wanted: whole problems, on one device or on one each."""

    model_config = ConfigDict(extra="forbid")

    problems: list[ProblemBody] = Field(
        min_length=1, max_length=MOST, description="What to compute, at most 1,000", examples=[[_PROBLEM]]
    )
    device: str | list[str] = Field(
        default="auto",
        min_length=1,
        max_length=MOST,
        description="Device id, or auto for the best one here; a list names one for each problem",
        examples=["b580"],
    )
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="GPU whose kernels emulating devices run",
        examples=["b580"],
    )
    form: Form = Field(default=Form.WHOLE, description="whole answers, or columns", examples=["columns"])
    tune: Tune = Field(
        default=Tune.NEVER,
        description="When to queue a job, for each problem as a single lookup does. Needs a key that may tune",
        examples=["on_miss"],
    )


class MissOut(BaseModel):
    """Why there is no answer."""

    problem: str = Field(description="The problem in words", examples=["512x384x1024 f16->f32 NN"])
    device: str = Field(description="Id of the device", examples=["b580"])
    rule: str = Field(description="The rule that a single lookup is refused by", examples=["no-kernel"])
    detail: str = Field(
        description="What happened", examples=["no kernel is stored for 512x384x1024 f16->f32 NN on b580"]
    )
    next: list[NextRequest] = Field(
        default_factory=list[NextRequest], description="What would help, ready to send", examples=[[]]
    )


class PlacedMiss(BaseModel):
    """A problem without an answer."""

    index: int = Field(description="Its place among the problems, from 0", examples=[3])
    why: MissOut = Field(
        description="What is missing",
        examples=[{"problem": "512x384x1024 f16->f32 NN", "device": "b580", "rule": "no-kernel", "detail": "..."}],
    )


class PlacedJob(BaseModel):
    """What became of a problem that was to be tuned."""

    index: int = Field(description="Its place among the problems, from 0", examples=[3])
    job: UUID | None = Field(description="The job, new or queued before; null if refused", examples=[_ID])
    refused: str | None = Field(
        default=None, description="Rule and reason that it cannot be tuned by; null if it can", examples=[None]
    )


class Columns(NamedTuple):
    """What of an answer goes into columns."""

    source: str
    stale: bool
    confidence: float
    kernel: str | None
    time_us: float | None
    time_kind: str | None

    @classmethod
    def of(cls, found: LookupOut) -> "Columns":
        """Those of an answer."""
        kernel, time = found.kernel, found.time
        return cls(
            found.source.value,
            found.source is Source.STALE,
            found.confidence.value,
            None if kernel is None else str(kernel.id),
            None if time is None else time.value,
            None if time is None else time.kind,
        )


class ColumnsOut(BaseModel):
    """The answers in columns, one entry a problem in each; null in all of a miss."""

    source: list[Source | None] = Field(description="Where each is from", examples=[["exact"]])
    stale: list[bool | None] = Field(
        description="Whether it was tuned under other versions than are here now", examples=[[False]]
    )
    confidence: list[float | None] = Field(description="From 0 to 1, no unit", examples=[[0.95]])
    kernel: list[UUID | None] = Field(
        description="The kernel, as GET /v1/kernels/{id} tells it; null where one is to be compiled", examples=[[_ID]]
    )
    time_us: list[float | None] = Field(
        description="Time of this problem, in us; null if nothing is known", examples=[[412.5]]
    )
    time_kind: list[str | None] = Field(
        description="measured or predicted; null without a time", examples=[["measured"]]
    )


class BatchOut(BaseModel):
    """What to run for each of many problems: each answer is what a single lookup gives."""

    answers: list[LookupOut | None] | None = Field(
        default=None, description="One a problem, null for a miss; null in the form of columns", examples=[None]
    )
    columns: ColumnsOut | None = Field(
        default=None,
        description="The same in short, if asked for",
        examples=[
            {
                "source": ["exact"],
                "stale": [False],
                "confidence": [0.95],
                "kernel": [_ID],
                "time_us": [412.5],
                "time_kind": ["measured"],
            }
        ],
    )
    misses: list[PlacedMiss] = Field(description="The problems without an answer", examples=[[]])
    jobs: list[PlacedJob] = Field(
        default_factory=list[PlacedJob], description="Of those that were to be tuned", examples=[[]]
    )
