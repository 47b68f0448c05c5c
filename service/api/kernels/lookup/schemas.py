"""The answer to a lookup on the wire: what to run, how that is known, and how far to trust it."""

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from service.api.kernels.launch_schemas import (
    LAUNCH_EXAMPLE,
    LaunchOut,
)
from service.api.kernels.schemas import (
    KernelOut,
    Tune,
)
from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.errors import NextRequest
from service.schemas import MEASURED_EXAMPLE, TIME_EXAMPLE, ProblemBody, TimeEvidence


class Source(StrEnum):
    """Where an answer is from, the most certain first."""

    EXACT = "exact"
    STALE = "stale"
    NEAREST = "nearest"
    MODEL = "model"
    HEURISTIC = "heuristic"

    def is_reason_for(self, tune: Tune) -> bool:
        """Whether an answer from here is to queue a job."""
        if tune is Tune.NEVER or self is Source.EXACT:
            return False
        return tune is Tune.ON_STALE or self is not Source.STALE


class ConfidenceOut(BaseModel):
    """How far an answer is to be trusted, and why."""

    level: Literal["high", "medium", "low"] = Field(description="high from 0.8, medium from 0.4", examples=["medium"])
    value: float = Field(description="From 0 to 1, no unit; a rank of answers, not a chance", examples=[0.65])
    reasons: list[str] = Field(
        description="What it follows from, each with its part",
        examples=[["0.70 a measured kernel of a problem nearby", "-0.05 0.33 doublings away"]],
    )


class ElsewhereOut(BaseModel):
    """The tuned problem that an answer was carried over from. Its time is of that problem alone."""

    problem: ProblemBody = Field(description="That problem", examples=[{"m": 512, "n": 384, "k": 1024}])
    distance: float = Field(
        description="Root of the squared doublings of M, N, K and batch between the two", examples=[0.32]
    )
    kernel_id: UUID | None = Field(
        default=None, description="Its kernel", examples=["01970a3c-0000-7000-8000-000000000000"]
    )
    job: UUID = Field(description="The job that tuned it", examples=["01970a3c-0000-7000-8000-000000000000"])
    trial: int = Field(description="The number of its best trial", examples=[7])
    time: TimeEvidence | None = Field(
        default=None,
        description="What it took there: never the time of the problem asked for",
        examples=[MEASURED_EXAMPLE],
    )


class LookupOut(BaseModel):
    """What to run for a problem on a device."""

    source: Source = Field(
        description="exact: tuned for this very problem on this very device, under what is installed now; stale: under "
        "another driver, compiler or generator; nearest: a tuned problem nearby, said for this one; model: what is "
        "predicted to be the fastest of a few; heuristic: the default",
        examples=["exact"],
    )
    stale: list[str] = Field(
        default_factory=list[str],
        description="What is another one now; empty unless stale",
        examples=[["driver 26.27 then, 26.31 now"]],
    )
    confidence: ConfidenceOut = Field(
        description="How far to trust it", examples=[{"level": "high", "value": 0.95, "reasons": []}]
    )
    kernel: KernelOut | None = Field(
        default=None,
        description="The kernel; null where none is stored that runs this problem: the configuration is to be compiled",
        examples=[None],
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration to run, legal for this problem on this device", examples=[CONFIG_EXAMPLE]
    )
    launch: LaunchOut | None = Field(
        default=None,
        description="The kernel's launch for this problem: of one that takes sizes, for these; null without kernel",
        examples=[LAUNCH_EXAMPLE],
    )
    time: TimeEvidence | None = Field(
        default=None, description="What is known of this problem's time; null if nothing is", examples=[TIME_EXAMPLE]
    )
    time_told: str = Field(
        description="The same in words",
        examples=["unknown here; for 512x384x1024 f16->f32 NN it was 486.8 us, measured"],
    )
    elsewhere: ElsewhereOut | None = Field(
        default=None, description="Where it was carried over from; null unless nearest", examples=[None]
    )
    unmeasured: int = Field(
        default=0,
        description="Configurations of this problem and device that are predicted faster than the kernel's time and "
        "that nobody measured; a measured kernel is served before them",
        examples=[3],
    )
    next: list[NextRequest] = Field(
        default_factory=list[NextRequest], description="What would make the answer better, ready to send", examples=[[]]
    )
    job: UUID | None = Field(
        default=None,
        description="The job that this lookup queued, or found queued; null if it was not to",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )
