"""Schemas of batch lookups."""

from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from service.api.kernels.lookup.schemas import (
    AnswerSource,
    LookupOut,
    MissOut,
)
from service.api.kernels.schemas import DRIVER
from service.api.kernels.tune import Tune
from service.configurations import ConfigBody
from service.schemas import ProblemBody

MOST = 1_000
"""Maximum number of problems of a batch."""
_PROBLEM = {"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}
_ID = "01970a3c-0000-7000-8000-000000000000"


class Form(StrEnum):
    """Form of the answers: complete, or the most important fields in columns."""

    WHOLE = "whole"
    COLUMNS = "columns"


class BatchBody(BaseModel):
    """Input of a batch lookup: problems, on one device or on one device each."""

    model_config = ConfigDict(extra="forbid")

    problems: list[ProblemBody] = Field(
        min_length=1, max_length=MOST, description="Problems, at most 1,000", examples=[[_PROBLEM]]
    )
    device: str | list[str] = Field(
        default="auto",
        min_length=1,
        max_length=MOST,
        description="Device id, or auto for the best local one; a list names one for each problem",
        examples=["b580"],
    )
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="GPU whose kernels emulating devices run",
        examples=["b580"],
    )
    form: Form = Field(default=Form.WHOLE, description="complete answers, or columns", examples=["columns"])
    tune: Tune = Field(
        default=Tune.NEVER,
        description="When to queue a job for a problem, as in a single lookup. Needs a key with scope tune",
        examples=["on_miss"],
    )
    driver: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description=f"{DRIVER}. Columns have no binaries, and are the same with it",
        examples=["26.27.1"],
    )


class PlacedMiss(BaseModel):
    """A problem without an answer."""

    index: int = Field(description="Index of the problem, from 0", examples=[3])
    why: MissOut = Field(
        description="What is missing",
        examples=[{"problem": "512x384x1024 f16->f32 NN", "device": "b580", "rule": "no-kernel", "detail": "..."}],
    )


class PlacedJob(BaseModel):
    """Outcome of queuing a job for a problem."""

    index: int = Field(description="Index of the problem, from 0", examples=[3])
    job: UUID | None = Field(description="The job, new or already queued; null if refused", examples=[_ID])
    refused: str | None = Field(
        default=None, description="Rule and reason of the refusal; null if queued", examples=[None]
    )


class Columns(NamedTuple):
    """Fields of an answer in columns."""

    source: str
    stale: bool
    confidence: float
    kernel: str | None
    time_us: float | None
    time_kind: str | None
    config: msgspec.Raw | None

    @classmethod
    def of(cls, found: LookupOut) -> "Columns":
        """Return the columns of an answer."""
        kernel, time = found.kernel, found.time
        return cls(
            found.source.value,
            found.source is AnswerSource.STALE,
            found.confidence.value,
            None if kernel is None else str(kernel.id),
            None if time is None else time.value,
            None if time is None else time.kind,
            msgspec.Raw(msgspec.json.encode(found.model_dump(mode="json")["config"])) if kernel is None else None,
        )


class ColumnsOut(BaseModel):
    """The answers in columns, one entry per problem; null in all columns for a miss."""

    source: list[AnswerSource | None] = Field(description="Source of each answer", examples=[["exact"]])
    stale: list[bool | None] = Field(
        description="Whether it was tuned with versions other than the current ones", examples=[[False]]
    )
    confidence: list[float | None] = Field(description="From 0 to 1, no unit", examples=[[0.95]])
    kernel: list[UUID | None] = Field(
        description="The kernel, for GET /v1/kernels/{id}; null if the configuration has to be compiled",
        examples=[[_ID]],
    )
    time_us: list[float | None] = Field(description="Time of this problem, in us; null if unknown", examples=[[412.5]])
    time_kind: list[str | None] = Field(
        description="measured or predicted; null without a time", examples=[["measured"]]
    )
    config: list[ConfigBody | dict[str, object] | None] = Field(
        description="The configuration to compile where kernel is null; else null", examples=[[None]]
    )


class BatchOut(BaseModel):
    """Answers to a batch: each is what a single lookup returns."""

    answers: list[LookupOut | None] | None = Field(
        default=None, description="One per problem, null for a miss; null in the form of columns", examples=[None]
    )
    columns: ColumnsOut | None = Field(
        default=None,
        description="The same in columns, if requested",
        examples=[
            {
                "source": ["exact"],
                "stale": [False],
                "confidence": [0.95],
                "kernel": [_ID],
                "time_us": [412.5],
                "time_kind": ["measured"],
                "config": [None],
            }
        ],
    )
    misses: list[PlacedMiss] = Field(description="The problems without an answer", examples=[[]])
    jobs: list[PlacedJob] = Field(
        default_factory=list[PlacedJob], description="Jobs of the problems that were to be tuned", examples=[[]]
    )
