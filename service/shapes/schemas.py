"""Sets of shapes on the wire. Field names carry their units."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.jobs.schemas import BudgetOut, JobStatus
from service.schemas import EVIDENCE_EXAMPLE, Evidence, ProblemBody

_ID = "01970a3c-0000-7000-8000-000000000000"


class ShapeOut(BaseModel):
    """One shape of a set: its job, and the best that is known beside the default."""

    name: str = Field(description="What people call it; empty if nothing", examples=["llama-3-8b qkv"])
    problem: ProblemBody = Field(description="What is computed, whole")
    weight: float = Field(description="How often it occurs, no unit", examples=[32.0])
    job_id: UUID = Field(description="The job that tunes it", examples=[_ID])
    status: JobStatus = Field(description="Of the job", examples=["succeeded"])
    error: str | None = Field(default=None, description="Why the job failed", examples=["no-valid-measurement: ..."])
    trials: int = Field(description="Configurations tried", examples=[24])
    default_us: float | None = Field(description="Time of the heuristic's choice, in us", examples=[930.2])
    tuned_us: float | None = Field(description="Time of the best, in us", examples=[412.5])
    gain: float | None = Field(description="How many times as fast the best is", examples=[2.26])
    in_turns: bool = Field(description="Whether both were measured in turns at the end", examples=[True])
    evidence: Evidence | None = Field(
        default=None, description="Of the best trial; null before any", examples=[EVIDENCE_EXAMPLE]
    )


class CellOut(BaseModel):
    """What a kernel takes on a shape."""

    kernel: int = Field(description="Number of the kernel, from 1", examples=[1])
    shape: int = Field(description="Number of the shape, from 1", examples=[2])
    evidence: Literal["in_turns", "trial", "predicted", "none"] = Field(
        description="Measured in turns with the others, measured by its trial, predicted by the model, or not known",
        examples=["in_turns"],
    )
    time_us: float | None = Field(default=None, description="Its time, in us", examples=[420.1])
    slower: float | None = Field(
        default=None, description="Its time over the least that is known of the shape", examples=[1.02]
    )
    reason: str | None = Field(default=None, description="Why no time is known", examples=["rule registers: ..."])


class KernelChoice(BaseModel):
    """A kernel of a set: one configuration, and the shapes that it serves under the recommendation."""

    number: int = Field(description="Counts from 1", examples=[1])
    shape: int = Field(description="Number of the shape that it is from", examples=[3])
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration, as that shape has it", examples=[CONFIG_EXAMPLE]
    )
    serves: list[int] = Field(
        description="Numbers of the shapes that it serves; empty if not needed", examples=[[1, 3]]
    )
    binaries: int = Field(description="Different binaries among those made of it for what it serves", examples=[2])


class CoverOut(BaseModel):
    """The fewest kernels found that keep each shape within a bound of its best."""

    within: float = Field(description="How far from its best a shape may be, as a fraction", examples=[0.05])
    needed: list[int] = Field(description="Numbers of the kernels, those that take most time first", examples=[[1, 4]])
    unserved: list[int] = Field(description="Numbers of shapes without any time", examples=[[]])
    one_each: bool = Field(description="Whether every shape needs a kernel of its own", examples=[False])
    evidence: list[str] = Field(description="How the times were found that it rests on", examples=[["in_turns"]])
    total_us: float = Field(description="Weighted time of all served shapes under it, in us", examples=[5210.0])
    best_us: float = Field(description="The same with the best kernel of each shape, in us", examples=[5100.0])
    unknown: int = Field(description="Times of kernels on shapes that are not known", examples=[3])
    kernels: list[KernelChoice] = Field(description="Every kernel that was tried on all shapes")
    cells: list[CellOut] = Field(description="What each takes on each")


class ShapeSetOut(BaseModel):
    """A set of shapes, tuned under one budget."""

    id: UUID = Field(description="Sorts by time of creation", examples=[_ID])
    source: str = Field(description="What the shapes were read from", examples=["llama-3-8b@tokens=1,16"])
    status: Literal["active", "succeeded", "cancelled"] = Field(description="Whether it is over", examples=["active"])
    device: str = Field(description="Device id", examples=["b580"])
    budget: BudgetOut = Field(description="Over all shapes")
    seed: int = Field(description="Start of the random choices", examples=[0])
    spent_s: float = Field(description="Wall time of all runs, in seconds", examples=[120.5])
    trials: int = Field(description="Configurations tried, on all shapes", examples=[240])
    compiled: int = Field(description="Kernels that were compiled", examples=[230])
    reused: int = Field(description="Kernels that were asked for and had been compiled before", examples=[41])
    default_us: float | None = Field(
        description="Weighted time of the shapes that have one, with the defaults, in us", examples=[9100.0]
    )
    tuned_us: float | None = Field(description="The same with the best of each, in us", examples=[7300.0])
    shapes: list[ShapeOut] = Field(description="In the order of the source")
    cover: CoverOut | None = Field(default=None, description="Null before kernels were compared across shapes")
    created_at: datetime = Field(description="When it was made, UTC", examples=["2026-01-02T03:04:05Z"])
    finished_at: datetime | None = Field(default=None, description="When it ended, UTC")


class ShapeSetLine(BaseModel):
    """A set of shapes in a list."""

    id: UUID = Field(description="Sorts by time of creation", examples=[_ID])
    source: str = Field(description="What the shapes were read from", examples=["shapes.csv"])
    status: str = Field(description="active, succeeded or cancelled", examples=["active"])
    device: str = Field(description="Device id", examples=["b580"])
    shapes: int = Field(description="How many", examples=[20])
    created_at: datetime = Field(description="When it was made, UTC", examples=["2026-01-02T03:04:05Z"])
