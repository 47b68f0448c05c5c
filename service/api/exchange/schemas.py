"""Imports and exports on the wire."""

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field

from service.api.jobs.defaults import SECONDS
from service.http.problem_query import OptionalProblemQuery
from service.schemas import FiniteFloat
from tuner.exchange.file_format import Format
from tuner.session.bounds import check_name

_ID = "01970a3c-0000-7000-8000-000000000000"
_NAME = r"^[^\x00-\x1f\x7f]*$"


def _checked_origin(origin: str) -> str:
    check_name(origin)
    return origin


Origin = Annotated[str, Field(min_length=1, max_length=200, pattern=_NAME), AfterValidator(_checked_origin)]


class ImportQuery(OptionalProblemQuery):
    """Options of an import: problem and device where the file does not state them, and limits of measuring jobs."""

    format: Format | None = Field(
        default=None, description="Format of the file; default: detected from its content", examples=["kernel-tuner"]
    )
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Device of the results, or to measure on",
        examples=["b580"],
    )
    origin: Origin | None = Field(
        default=None,
        description="Origin of the results; default: the file's",
        examples=["the lab"],
    )
    seconds: FiniteFloat = Field(
        default=SECONDS,
        gt=0,
        description="Time limit of each job that measures what the file lists, in seconds",
        examples=[600.0],
    )


class ExportQuery(OptionalProblemQuery):
    """Selection and format of an export. JSON lines hold everything; other formats hold one job or recording."""

    format: Format = Field(default=Format.JSONL, description="Format of the export", examples=["jsonl"])
    job: UUID | None = Field(default=None, description="Only this job, which must be over", examples=[_ID])
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
        description="Predicted configurations without a measurement, in place of results",
        examples=[False],
    )
    origin: Origin | None = Field(
        default=None,
        description="Origin of the results; default: the service's host",
        examples=["the lab"],
    )
    limit: int = Field(
        default=20, ge=1, le=10_000, description="Maximum number of runners-up per problem and device", examples=[20]
    )


class ImportOut(BaseModel):
    """Counts of an import. A file is imported whole or not at all."""

    format: Format = Field(description="Format of the file", examples=["jsonl"])
    origin: str = Field(description="Origin of the results", examples=["the lab"])
    jobs: int = Field(default=0, description="Jobs added", examples=[2])
    trials: int = Field(default=0, description="Trials added", examples=[120])
    kernels: int = Field(default=0, description="Kernels of these trials", examples=[96])
    records: int = Field(default=0, description="Records of other tuners added", examples=[0])
    known: int = Field(
        default=0, description="Trials, records or recorded configurations that were known before", examples=[0]
    )
    judged: dict[str, int] = Field(
        default_factory=dict[str, int],
        description="Predictions that now have a measurement, by device",
        examples=[{"b580": 12}],
    )
    recording: UUID | None = Field(
        default=None, description="The recording of a Kernel Tuner cache or T4 file", examples=[_ID]
    )
    configurations: int = Field(
        default=0, description="Configurations of that recording, or to be measured", examples=[120]
    )
    timed: int = Field(default=0, description="Number of these that have a time", examples=[110])
    notes: list[str] = Field(
        default_factory=list[str],
        description="Parts of the file that were left out",
        examples=[["the end of the file is missing"]],
    )
    queued: list[UUID] = Field(
        default_factory=list[UUID],
        description="Jobs that measure what a T1 file or runners-up list, new or active already",
        examples=[[_ID]],
    )
