"""Kernels and their files on the wire."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from codegen import GemmProblem
from service.api.kernels.launch_schemas import (
    LAUNCH_EXAMPLE,
    LaunchOut,
)
from service.api.kernels.tune import Tune
from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.http.problem_query import ProblemQuery
from service.schemas import EVIDENCE_EXAMPLE, TIME_EXAMPLE, DeviceChoice, Evidence, ProblemBody, TimeEvidence

DRIVER = "Driver of the caller: native binaries for it come first, the others say what has changed"


class LookupBody(DeviceChoice):
    """Input of a lookup: a problem on one device."""

    problem: ProblemBody = Field(
        description="What to compute", examples=[{"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}]
    )
    tune: Tune = Field(
        default=Tune.NEVER,
        description="When to queue a job: never; on_miss, if no result of the problem is stored; on_stale, also if it "
        "is stale. Needs a key with scope tune",
        examples=["on_miss"],
    )
    driver: str | None = Field(default=None, min_length=1, max_length=100, description=DRIVER, examples=["26.27.1"])


class LookupQuery(ProblemQuery):
    """Input of a lookup as query parameters: every field of a problem, and the device."""

    m: int = Field(description="Rows of C, in elements", examples=[512])
    n: int = Field(description="Columns of C, in elements", examples=[384])
    k: int = Field(description="Inner (reduction) dimension, in elements", examples=[1024])
    device: str = Field(
        default="auto", min_length=1, max_length=200, description="Device id, or auto", examples=["b580"]
    )
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="GPU that the device emulates",
        examples=["b580"],
    )
    driver: str | None = Field(default=None, min_length=1, max_length=100, description=DRIVER, examples=["26.27.1"])

    def problem(self) -> GemmProblem:
        """The problem of the parameters.

        Raises:
            InvalidProblem: it contradicts itself; names the field.
        """
        return self.problem_of(self.m, self.n, self.k)


class ArtifactOut(BaseModel):
    """A file of a kernel."""

    name: str = Field(description="File name", examples=["kernel.spv"])
    size: int = Field(description="Length, in bytes", examples=[18432])
    sha256: str = Field(description="SHA-256 of the bytes, in hex", examples=["9f86d081884c7d65..."])
    media_type: str = Field(description="Media type", examples=["application/octet-stream"])
    href: str = Field(description="Path to get it from", examples=["/v1/kernels/01970a3c-.../artifacts/kernel.spv"])


class BinaryOut(BaseModel):
    """Intel's native binary of a kernel (zebin), for a chip and a driver: what clCreateProgramWithBinary takes."""

    chip: str = Field(description="Chip that it is for, as Intel's compilers name it", examples=["bmg"])
    driver: str = Field(
        description="Version of the driver whose compiler made it; another driver may reject it", examples=["26.27.1"]
    )
    name: str = Field(description="File name", examples=["kernel-bmg-26.27.1.zebin"])
    size: int = Field(description="Length, in bytes", examples=[18432])
    sha256: str = Field(description="SHA-256 of the bytes, in hex", examples=["9f86d081884c7d65..."])
    href: str = Field(
        description="Path to get it from", examples=["/v1/kernels/01970a3c-.../artifacts/kernel-bmg-26.27.1.zebin"]
    )
    log_href: str | None = Field(
        description="Path of the compiler's log; null if it is empty",
        examples=["/v1/kernels/01970a3c-.../artifacts/kernel-bmg-26.27.1.zebin.log"],
    )
    stale: list[str] = Field(
        default_factory=list[str],
        description="What has changed, if a driver was asked for and it is another",
        examples=[["driver 26.27.1 then, 26.31 now"]],
    )


Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")
]
"""One line of text."""


class WithdrawalBody(BaseModel):
    """Input of a withdrawal."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = Field(description="Why the kernel is not to be served", examples=["wrong results on driver 26.31"])


class KernelOut(BaseModel):
    """A compiled kernel with the evidence for it."""

    id: UUID = Field(description="Identifier", examples=["01970a3c-0000-7000-8000-000000000000"])
    problem: ProblemBody = Field(description="The complete problem", examples=[{"m": 512, "n": 384, "k": 1024}])
    device: str = Field(
        description="Id of the device it was tuned on; its times apply to that device only", examples=["b580"]
    )
    driver: str = Field(description="Driver of that device; empty if unknown", examples=["26.27.1"])
    target: str = Field(description="Id of the device it was compiled for", examples=["b580"])
    evidence: Evidence = Field(
        description="Time and correctness of its best trial, or of its latest if none has a time",
        examples=[EVIDENCE_EXAMPLE],
    )
    status: str | None = Field(
        default=None,
        description="Outcome of that trial: measured, predicted, or why there is no time; null without a trial",
        examples=["measured"],
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
    predicted: TimeEvidence | None = Field(
        default=None,
        description="Prediction of the model for that trial; null if none",
        examples=[TIME_EXAMPLE],
    )
    prediction_error: float | None = Field(
        default=None, description="Measured over predicted time; null without either", examples=[1.18]
    )
    origin: str | None = Field(
        default=None, description="Host where it was compiled, if imported; null if here", examples=["the lab"]
    )
    withdrawn: str | None = Field(
        default=None,
        description="Why it was withdrawn, so that no lookup serves it; null if it is served",
        examples=["wrong results on driver 26.31"],
    )
    withdrawn_at: datetime | None = Field(
        default=None, description="When it was withdrawn, UTC; null if it is served", examples=["2026-01-02T03:04:06Z"]
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration, canonical; as stored if this version cannot read it",
        examples=[CONFIG_EXAMPLE],
    )
    launch: LaunchOut = Field(
        description="kernel.json: arguments, kernels with their parameters and sizes, build options",
        examples=[LAUNCH_EXAMPLE],
    )
    toolchain: dict[str, object] = Field(
        description="Versions of the tools it was compiled with", examples=[{"llvm": "22.1"}]
    )
    content_hash: str = Field(description="SHA-256 of the SPIR-V, in hex", examples=["9f86d081884c7d65..."])
    artifacts: list[ArtifactOut] = Field(description="Its files", examples=[[]])
    binaries: list[BinaryOut] = Field(
        default_factory=list[BinaryOut],
        description="Native binaries, newest first, each for one driver: with that of its driver, a runtime need not "
        "compile kernel.spv",
        examples=[[]],
    )
    job: UUID | None = Field(
        default=None, description="Job of its best trial", examples=["01970a3c-0000-7000-8000-000000000000"]
    )
    created_at: datetime = Field(description="When it was stored, UTC", examples=["2026-01-02T03:04:06Z"])


class BinaryQuery(BaseModel):
    """The driver of a caller."""

    model_config = ConfigDict(extra="forbid")

    driver: str | None = Field(
        default=None, min_length=1, max_length=100, description="Driver of the caller, compared", examples=["26.27.1"]
    )


class BinaryList(BaseModel):
    """Native binaries of a kernel: those of the driver that was asked for first, then the newest."""

    binaries: list[BinaryOut] = Field(description="The binaries", examples=[[]])


class RebuildOut(BaseModel):
    """Jobs that rebuild native binaries because all of their kernel's are for other drivers."""

    driver: str = Field(description="Driver of the installed compiler, that they are for", examples=["26.31.1"])
    jobs: list[UUID] = Field(
        description="Jobs, new or active already, one for each kernel",
        examples=[["01970a3c-0000-7000-8000-000000000000"]],
    )
    left: int = Field(description="Number of stale kernels beyond `most`", examples=[0])
