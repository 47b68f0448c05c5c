"""Lists of kernels on the wire."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.http.list_query import ID_EXAMPLE
from service.schemas import EVIDENCE_EXAMPLE, Evidence, ProblemBody


class KernelLine(BaseModel):
    """A kernel in a list."""

    id: UUID = Field(description="Sorts by time of creation; GET /v1/kernels/ID has all of it", examples=[ID_EXAMPLE])
    problem: ProblemBody = Field(description="The complete problem", examples=[{"m": 512, "n": 384, "k": 1024}])
    device: str = Field(description="Id of the device it was tuned on", examples=["b580"])
    driver: str = Field(description="Driver of that device; empty if unknown", examples=["26.27.1"])
    winner: bool = Field(description="Best of a job", examples=[True])
    evidence: Evidence = Field(description="Time and correctness of its best trial", examples=[EVIDENCE_EXAMPLE])
    status: str | None = Field(
        default=None, description="Outcome of that trial, or of its latest; null without a trial", examples=["measured"]
    )
    reason: str | None = Field(
        default=None,
        description="Why that trial has no time; null if it has one",
        examples=["largest error 3.1 is above the tolerance 0.0124"],
    )
    tflops: float | None = Field(
        default=None,
        description="2 M N K batch / time, twice that if gated, in TFLOP/s; null without a time",
        examples=[1.25],
    )
    origin: str | None = Field(
        default=None, description="Host where it was compiled, if imported; null if here", examples=["the lab"]
    )
    withdrawn: str | None = Field(
        default=None,
        description="Why it was withdrawn, so that no lookup serves it; null if it is served",
        examples=["wrong results on driver 26.31"],
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration; as stored if this version cannot read it", examples=[CONFIG_EXAMPLE]
    )
    content_hash: str = Field(description="SHA-256 of the binary, in hex", examples=["9f86d081884c7d65..."])
    created_at: datetime = Field(description="When it was stored, UTC", examples=["2026-01-02T03:04:06Z"])


class KernelPage(BaseModel):
    """A page of kernels, newest first."""

    kernels: list[KernelLine] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[None])
