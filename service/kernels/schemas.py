"""Kernels and their files on the wire."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from service.schemas import EVIDENCE_EXAMPLE, Evidence, ProblemBody


class LookupBody(BaseModel):
    """Which kernel is wanted: a whole problem on one device."""

    model_config = ConfigDict(extra="forbid")

    problem: ProblemBody = Field(
        description="What to compute", examples=[{"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}]
    )
    device: str = Field(
        default="auto",
        min_length=1,
        max_length=200,
        description="Device id, or auto for the best one here",
        examples=["b580"],
    )
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="GPU whose kernels an emulating device runs",
        examples=["b580"],
    )


class ArtifactOut(BaseModel):
    """A file of a kernel."""

    name: str = Field(description="File name", examples=["kernel.spv"])
    size: int = Field(description="Length, in bytes", examples=[18432])
    sha256: str = Field(description="SHA-256 of the bytes, in hex", examples=["9f86d081884c7d65..."])
    media_type: str = Field(description="Media type", examples=["application/octet-stream"])
    href: str = Field(description="Where to get it", examples=["/v1/kernels/01970a3c-.../artifacts/kernel.spv"])


class KernelOut(BaseModel):
    """A compiled kernel with the evidence it was chosen by."""

    id: UUID = Field(description="Identifier", examples=["01970a3c-0000-7000-8000-000000000000"])
    problem: ProblemBody = Field(description="What it computes, whole", examples=[{"m": 512, "n": 384, "k": 1024}])
    device: str = Field(description="Id of the device it was tuned on; its times hold there alone", examples=["b580"])
    driver: str = Field(description="Driver of that device; empty if none was known", examples=["26.27.1"])
    target: str = Field(description="Id of the device it was compiled for", examples=["b580"])
    evidence: Evidence = Field(
        description="Time and proof of its best trial; of its latest if none gave a time",
        examples=[EVIDENCE_EXAMPLE],
    )
    status: str | None = Field(
        default=None,
        description="How that trial ended: measured, predicted, or why there is no time; null without a trial",
        examples=["measured"],
    )
    reason: str | None = Field(
        default=None,
        description="Why that trial gave no time; null if it gave one",
        examples=["largest error 3.1 is above the tolerance 0.0124"],
    )
    tflops: float | None = Field(
        default=None, description="2 M N K batch / time, in TFLOP/s; null without a time", examples=[1.25]
    )
    config: dict[str, object] = Field(
        description="The configuration, canonical", examples=[{"matmul": {}, "strategy": {}}]
    )
    launch: dict[str, object] = Field(
        description="kernel.json: kernel name, arguments in order (sizes in bytes), global and local size in "
        "work-items, sub-group size, build options",
        examples=[{"kernel": "gemm", "global_size": [256, 4, 1], "local_size": [64, 1, 1]}],
    )
    toolchain: dict[str, object] = Field(description="Versions it was made with", examples=[{"llvm": "22.1"}])
    content_hash: str = Field(description="SHA-256 of the SPIR-V, in hex", examples=["9f86d081884c7d65..."])
    artifacts: list[ArtifactOut] = Field(description="Its files", examples=[[]])
    job: UUID | None = Field(
        default=None, description="Job of its best trial", examples=["01970a3c-0000-7000-8000-000000000000"]
    )
    created_at: datetime = Field(description="When it was stored, UTC", examples=["2026-01-02T03:04:06Z"])


class LookupOut(BaseModel):
    """The best kernel for a problem on a device."""

    source: Literal["exact"] = Field(
        default="exact", description="exact: tuned for this very problem on this very device", examples=["exact"]
    )
    kernel: KernelOut = Field(
        description="The kernel",
        examples=[
            {
                "id": "01970a3c-0000-7000-8000-000000000000",
                "problem": {"m": 512, "n": 384, "k": 1024},
                "device": "b580",
                "driver": "26.27.1",
                "target": "b580",
                "evidence": EVIDENCE_EXAMPLE,
                "status": "predicted",
                "config": {"matmul": {}, "strategy": {}},
                "launch": {"kernel": "gemm", "global_size": [256, 4, 1], "local_size": [64, 1, 1]},
                "toolchain": {"llvm": "22.1"},
                "content_hash": "9f86d081884c7d65...",
                "artifacts": [],
                "created_at": "2026-01-02T03:04:06Z",
            }
        ],
    )
