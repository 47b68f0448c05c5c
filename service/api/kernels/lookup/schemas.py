"""Schemas of lookups: the kernel, its evidence and its confidence."""

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from service.api.kernels.launch_schemas import (
    LAUNCH_EXAMPLE,
    LaunchOut,
)
from service.api.kernels.schemas import KernelOut
from service.api.kernels.tune import Tune
from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.errors import NextRequest
from service.schemas import MEASURED_EXAMPLE, TIME_EXAMPLE, ProblemBody, TimeEvidence

JOBS = "/v1/jobs"
"""Path of the jobs that answers propose."""


class AnswerSource(StrEnum):
    """Source of an answer, the most certain first."""

    EXACT = "exact"
    STALE = "stale"
    NEAREST = "nearest"
    MODEL = "model"
    HEURISTIC = "heuristic"

    def is_reason_for(self, tune: Tune) -> bool:
        """Return whether an answer from this source should queue a job."""
        if tune is Tune.NEVER or self is AnswerSource.EXACT:
            return False
        return tune is Tune.ON_STALE or self is not AnswerSource.STALE


class ConfidenceOut(BaseModel):
    """Confidence of an answer, and its reasons."""

    level: Literal["high", "medium", "low"] = Field(description="high from 0.8, medium from 0.4", examples=["medium"])
    value: float = Field(description="From 0 to 1, no unit; a rank of answers, not a probability", examples=[0.65])
    reasons: list[str] = Field(
        description="Base and deductions, each with its part",
        examples=[["0.70 a measured kernel of a problem nearby", "-0.05 0.33 doublings of M, N, K or batch away"]],
    )


class ElsewhereOut(BaseModel):
    """The tuned problem that an answer was transferred from. Its time applies to that problem only."""

    problem: ProblemBody = Field(description="That problem", examples=[{"m": 512, "n": 384, "k": 1024}])
    distance: float = Field(
        description="Distance between the two: Euclidean norm of the log2 ratios of M, N, K and batch", examples=[0.32]
    )
    kernel_id: UUID | None = Field(
        default=None, description="Its kernel", examples=["01970a3c-0000-7000-8000-000000000000"]
    )
    job: UUID = Field(description="The job that tuned it", examples=["01970a3c-0000-7000-8000-000000000000"])
    trial: int = Field(
        description="The number of its best trial; of the fastest other one if the kernel of that is withdrawn",
        examples=[7],
    )
    time: TimeEvidence | None = Field(
        default=None,
        description="Time of that problem: never that of the requested problem",
        examples=[MEASURED_EXAMPLE],
    )


class FasterOut(BaseModel):
    """A configuration that is expected to be faster than the stored kernel of the answer, but has to be compiled."""

    config: ConfigBody | dict[str, object] = Field(
        description="The configuration, legal for this problem on this device", examples=[CONFIG_EXAMPLE]
    )
    time: TimeEvidence | None = Field(
        default=None, description="Its time of this problem; null if unknown", examples=[TIME_EXAMPLE]
    )
    why: str = Field(
        description="Why it is expected to be faster",
        examples=["predicted 1.24 times as fast as the kernel, beyond the resolution of the model, 7%"],
    )


class RefusalOut(BaseModel):
    """Why a job is refused."""

    rule: str = Field(description="The rule that refuses it", examples=["cannot-predict"])
    detail: str = Field(
        description="The reason and its remedy",
        examples=["problem: expected operands of at most 4294967296 bytes together, got 768000000000000"],
    )


class LookupOut(BaseModel):
    """Answer of a lookup: the kernel for a problem on a device."""

    source: AnswerSource = Field(
        description="exact: tuned for this problem on this device, with the current versions; stale: with another "
        "driver, compiler or generator; nearest: transferred from a nearby tuned problem, or the dynamic "
        "kernel of any; model: the fastest predicted of a few candidates; heuristic: the default",
        examples=["exact"],
    )
    stale: list[str] = Field(
        default_factory=list[str],
        description="What has changed since; empty unless stale",
        examples=[["driver 26.27 then, 26.31 now"]],
    )
    confidence: ConfidenceOut = Field(
        description="Confidence", examples=[{"level": "high", "value": 0.95, "reasons": []}]
    )
    kernel: KernelOut | None = Field(
        default=None,
        description="The kernel; null if none is stored that runs this problem: compile the configuration, as a "
        "request in next does",
        examples=[None],
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration to run, legal for this problem on this device; with a kernel, the one that "
        "launch is of: of a dynamic kernel of other sizes, kernel.config with the work-groups of these sizes",
        examples=[CONFIG_EXAMPLE],
    )
    launch: LaunchOut | None = Field(
        default=None,
        description="The kernel's launch for this problem; for a dynamic kernel, with its sizes; null without kernel",
        examples=[LAUNCH_EXAMPLE],
    )
    time: TimeEvidence | None = Field(
        default=None, description="Time of this problem; null if unknown", examples=[TIME_EXAMPLE]
    )
    time_text: str = Field(
        description="The same in words",
        examples=["unknown here; for 512x384x1024 f16->f32 NN it was 486.8 us, measured"],
    )
    elsewhere: ElsewhereOut | None = Field(
        default=None, description="Problem it was transferred from; null unless nearest", examples=[None]
    )
    faster: FasterOut | None = Field(
        default=None,
        description="With a dynamic kernel of other sizes, a configuration that is expected to be faster, and is to be "
        "compiled; null if none is",
        examples=[None],
    )
    untunable: RefusalOut | None = Field(
        default=None,
        description="Why a job for this problem on this device would be refused; null if it would not, or if the "
        "answer is exact",
        examples=[None],
    )
    unmeasured: int = Field(
        default=0,
        description="Configurations of this problem and device that are predicted to be faster than the kernel and "
        "are not measured; a measured kernel is served before them",
        examples=[3],
    )
    next: list[NextRequest] = Field(
        default_factory=list[NextRequest],
        description="Requests that would improve the answer, ready to send: a job for the problem, and the compilation "
        "of the configuration that has no kernel. A request that would be refused is left out",
        examples=[[]],
    )
    job: UUID | None = Field(
        default=None,
        description="The job that this lookup queued, or found queued; null if none",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )


class MissOut(BaseModel):
    """Reason why there is no answer."""

    problem: str = Field(description="The problem in words", examples=["512x384x1024 f16->f32 NN"])
    device: str = Field(description="Id of the device", examples=["b580"])
    rule: str = Field(description="The rule that refuses a single lookup", examples=["no-kernel"])
    detail: str = Field(
        description="What happened", examples=["no kernel is stored for 512x384x1024 f16->f32 NN on b580"]
    )
    next: list[NextRequest] = Field(
        default_factory=list[NextRequest], description="Requests that would help, ready to send", examples=[[]]
    )
