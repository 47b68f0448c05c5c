"""Imports and exports on the wire."""

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field

from service.http.problem_query import OptionalProblemQuery
from service.schemas import FiniteFloat
from tuner.exchange.formats import Format
from tuner.exchange.records import check_name

_ID = "01970a3c-0000-7000-8000-000000000000"
_NAME = r"^[^\x00-\x1f\x7f]*$"


def _checked_origin(origin: str) -> str:
    check_name("origin", origin)
    return origin


Origin = Annotated[str, Field(min_length=1, max_length=200, pattern=_NAME), AfterValidator(_checked_origin)]


class ImportQuery(OptionalProblemQuery):
    """Options of an import: problem and device where the file does not state them, and limits of measuring jobs."""

    format: Format | None = Field(
        default=None, description="Format of the file; found by what it holds if left out", examples=["kernel-tuner"]
    )
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Device that it was measured on, or is to be measured on",
        examples=["b580"],
    )
    origin: Origin | None = Field(
        default=None,
        description="Name of the place that the results are from, in place of the file's",
        examples=["the lab"],
    )
    seconds: FiniteFloat = Field(
        default=600.0,
        gt=0,
        description="Longest run of each job that measures what the file lists, in seconds",
        examples=[600.0],
    )


class ExportQuery(OptionalProblemQuery):
    """Selection and format of an export. JSON lines hold everything; other formats hold one job or recording."""

    format: Format = Field(default=Format.JSONL, description="What is written", examples=["jsonl"])
    job: UUID | None = Field(default=None, description="Only this job, which is over", examples=[_ID])
    recording: UUID | None = Field(default=None, description="This recording, not as JSON lines", examples=[_ID])
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=_NAME,
        description="Only results for the device of this id",
        examples=["b580"],
    )
    runners_up: bool = Field(
        default=False,
        description="Predicted configurations that nobody measured, in place of results",
        examples=[False],
    )
    origin: Origin | None = Field(
        default=None,
        description="Name of the place that the results are from, in place of the service's host",
        examples=["the lab"],
    )
    limit: int = Field(
        default=20, ge=1, le=10_000, description="Most runners-up of a problem and device", examples=[20]
    )


class ImportOut(BaseModel):
    """Counts of an import. A file is imported whole or not at all."""

    format: Format = Field(description="Format of the file", examples=["jsonl"])
    origin: str = Field(description="Where the results are from", examples=["the lab"])
    jobs: int = Field(default=0, description="Jobs that were not here", examples=[2])
    trials: int = Field(default=0, description="Trials that were not here", examples=[120])
    kernels: int = Field(default=0, description="Kernels of these trials", examples=[96])
    known: int = Field(default=0, description="Trials, or recorded configurations, that were here before", examples=[0])
    judged: dict[str, int] = Field(
        default_factory=dict[str, int],
        description="Predictions that got a measurement, by device",
        examples=[{"b580": 12}],
    )
    recording: UUID | None = Field(
        default=None, description="The recording that holds a cache of Kernel Tuner or a T4 file", examples=[_ID]
    )
    configurations: int = Field(
        default=0, description="Configurations of that recording, or to be measured", examples=[120]
    )
    timed: int = Field(default=0, description="Those of the recording that have a time", examples=[110])
    notes: list[str] = Field(
        default_factory=list[str],
        description="What of the file was left out",
        examples=[["the end of the file is missing"]],
    )
    queued: list[UUID] = Field(
        default_factory=list[UUID],
        description="Jobs that measure what a T1 file or runners-up list, new or active already",
        examples=[[_ID]],
    )
