"""Request and response bodies of shape sets. Field names carry their units."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from codegen import DType
from codegen.problem.shorthand import SHORTHANDS
from service.api.jobs.defaults import TRIALS_EACH
from service.api.jobs.schemas import BudgetBody, SearchOptions, StopCriteria
from service.api.jobs.status import JobStatus
from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.schemas import EVIDENCE_EXAMPLE, DeviceChoice, Evidence, FiniteFloat, ProblemBody, Size
from tuner.shapes.shape import MOST_SHAPES

_ID = "01970a3c-0000-7000-8000-000000000000"
_SHAPE: dict[str, object] = {"problem": {"m": 512, "n": 384, "k": 1024}, "weight": 32.0, "name": "qkv"}
_COMMON: dict[str, object] = {"dtype_a": "bf16", "dtype_b": "bf16", "transpose_b": True}
_BUDGET: dict[str, object] = {"trials": 200, "seconds": 1800.0}
_EXPERTS = {"count": 128, "per_token": 8}
_LAYER: dict[str, object] = {
    "name": "expert_gate_up",
    "n": 1536,
    "k": 2048,
    "times": 48,
    "experts": _EXPERTS,
    "gated": True,
    "quantised": True,
}


class ShapeBody(BaseModel):
    """A problem of a set, and how often it occurs."""

    model_config = ConfigDict(extra="forbid")

    problem: ProblemBody = Field(description="The problem", examples=[_SHAPE["problem"]])
    weight: FiniteFloat = Field(default=1.0, gt=0, lt=1e15, description="Number of occurrences", examples=[32.0])
    name: str = Field(default="", max_length=200, description="Name", examples=["qkv"])


class CommonBody(BaseModel):
    """Defaults for the shapes of a csv, a text or a preset."""

    model_config = ConfigDict(extra="forbid")

    dtype_a: DType = Field(default=DType.F16, description="Element type of A", examples=["bf16"])
    dtype_b: DType = Field(default=DType.F16, description="Element type of B", examples=["bf16"])
    dtype_c: DType | None = Field(
        default=None, description="Element type of C; default: the accumulator type", examples=["f32"]
    )
    dtype_acc: DType | None = Field(default=None, description="Accumulator type", examples=["f32"])
    transpose_a: StrictBool = Field(default=False, description="A is stored [K, M]", examples=[False])
    transpose_b: StrictBool = Field(default=False, description="B is stored [N, K]", examples=[True])
    batch: Size = Field(default=1, description="Number of independent multiplications", examples=[1])
    alignment: Size = Field(default=64, description="Alignment of all pointers, in bytes", examples=[64])
    dynamic: StrictBool = Field(
        default=False, description="Dynamic shapes: kernels take the sizes as arguments", examples=[False]
    )
    deterministic: StrictBool = Field(default=False, description="Bitwise-reproducible results", examples=[False])
    epilogue: str = Field(
        default="",
        max_length=2000,
        description="Steps of the epilogue, in the syntax of the command line",
        examples=["bias:column, gelu"],
    )
    gate: str = Field(
        default="",
        max_length=100,
        description="Gate of two products, in the syntax of the command line",
        examples=["silu"],
    )
    experts: StrictInt | None = Field(
        default=None, description="Experts, each with a B for its rows of A and C", examples=[128]
    )
    quantization: str = Field(
        default="",
        max_length=100,
        description="Scales and zero points of B, in the syntax of the command line",
        examples=["128:f16:zero=8"],
    )
    quant: str = Field(
        default="",
        max_length=100,
        description=f"Usual quantisation: {', '.join(SHORTHANDS)}, as in w4a16:64:zeros. It replaces dtype_b; of a "
        "preset, the router and lm_head stay as they are",
        examples=["w4a16:128"],
    )


class SetBudgetBody(StopCriteria):
    """Budget of a set: trials and seconds are over all its shapes, the other limits end a shape."""

    trials: StrictInt | None = Field(
        default=None,
        ge=1,
        description=f"Maximum number of configurations tried; null: {TRIALS_EACH} for each shape",
        examples=[200],
    )


class ShapeSetBody(DeviceChoice, SearchOptions):
    """A shape set to tune under one budget: given by one of shapes, csv, text or preset."""

    shapes: list[ShapeBody] | None = Field(
        default=None, min_length=1, max_length=MOST_SHAPES, description="The shapes", examples=[[_SHAPE]]
    )
    csv: str | None = Field(
        default=None,
        min_length=1,
        description="A table with a header of m, n, k and optional fields",
        examples=["m,n,k,weight\n16,4096,4096,32\n"],
    )
    text: str | None = Field(
        default=None, min_length=1, description="Lines as m=1,16 n=4096 k=4096", examples=["m=1,16 n=4096 k=4096"]
    )
    preset: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="Layers of a model: see /v1/shape-sets/presets",
        examples=["llama-3.2-1b@tokens=1,16"],
    )
    common: CommonBody = Field(default_factory=CommonBody, description="Defaults of the shapes", examples=[_COMMON])
    budget: SetBudgetBody = Field(default_factory=SetBudgetBody, description="When to stop", examples=[_BUDGET])
    within: FiniteFloat = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Largest slowdown of a shape under the fewest kernels, as a fraction",
        examples=[0.05],
    )


class ExpertsOut(BaseModel):
    """Experts of a layer, each with weights of its own."""

    model_config = ConfigDict(from_attributes=True)

    count: int = Field(description="Number of experts", examples=[128])
    per_token: int = Field(description="Number of experts that a token passes", examples=[8])


class LayerOut(BaseModel):
    """Weights of [N, K] elements that a model multiplies with the activations of its tokens."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="Its name, for @layers=", examples=["expert_gate_up"])
    n: int = Field(description="Output features; of all fused projections", examples=[1536])
    k: int = Field(description="Input features", examples=[2048])
    times: int = Field(description="Number of occurrences in one pass", examples=[48])
    experts: ExpertsOut | None = Field(
        description="Experts, each with weights of these sizes; null if all tokens pass one matrix", examples=[_EXPERTS]
    )
    gated: bool = Field(
        description="True if N has two projections, one of which scales the other after its activation", examples=[True]
    )
    quantised: bool = Field(
        description="A quantisation of the model is for these weights; not for the router and lm_head",
        examples=[True],
    )


class PresetOut(BaseModel):
    """A model whose layers can be tuned."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="Its name", examples=["qwen3-30b-a3b"])
    source: str = Field(description="Source of its sizes", examples=["https://huggingface.co/..."])
    published: str = Field(description="Month of publication", examples=["2025-04"])
    layers: list[LayerOut] = Field(description="Its layers", examples=[[_LAYER]])


class PresetList(BaseModel):
    """Models whose layers can be tuned; NAME@tokens=1,16 sets M, NAME@layers=qkv,down selects layers."""

    presets: list[PresetOut] = Field(description="By family and size", examples=[[]])


class ShapeOut(BaseModel):
    """One shape of a set: its job, its best time and that of the default."""

    name: str = Field(description="Name; empty if it has none", examples=["llama-3-8b qkv"])
    problem: ProblemBody = Field(description="The problem", examples=[_SHAPE["problem"]])
    weight: float = Field(description="Number of occurrences, no unit", examples=[32.0])
    job_id: UUID = Field(description="The job that tunes it", examples=[_ID])
    status: JobStatus = Field(description="Of the job", examples=["succeeded"])
    error: str | None = Field(default=None, description="Why the job failed", examples=["no-valid-measurement: ..."])
    trials: int = Field(description="Configurations tried", examples=[24])
    default_us: float | None = Field(description="Time of the default configuration, in us", examples=[930.2])
    tuned_us: float | None = Field(description="Time of the best, in us", examples=[412.5])
    gain: float | None = Field(description="Speedup of the best over the default", examples=[2.26])
    interleaved: bool = Field(description="Whether both were re-measured, interleaved, at the end", examples=[True])
    evidence: Evidence | None = Field(
        default=None, description="Evidence of the best trial; null before any", examples=[EVIDENCE_EXAMPLE]
    )


class CellOut(BaseModel):
    """Time of a kernel on a shape."""

    kernel: int = Field(description="Number of the kernel, from 1", examples=[1])
    shape: int = Field(description="Number of the shape, from 1", examples=[2])
    evidence: Literal["interleaved", "trial", "predicted", "none"] = Field(
        description="Interleaved with the others, measured by its trial, predicted by the model, or unknown",
        examples=["interleaved"],
    )
    time_us: float | None = Field(default=None, description="Its time, in us", examples=[420.1])
    slower: float | None = Field(
        default=None, description="Its time over the least known time of the shape", examples=[1.02]
    )
    reason: str | None = Field(default=None, description="Reason of a missing time", examples=["rule registers: ..."])
    content_hash: str | None = Field(
        default=None,
        description="SHA-256 of the binary, equal where shapes share one; null if none was compiled",
        examples=["9f86d081884c7d65..."],
    )


class KernelChoice(BaseModel):
    """A kernel of a set: one configuration, and the shapes that it serves in the cover."""

    number: int = Field(description="Counts from 1", examples=[1])
    shape: int = Field(description="Number of its original shape", examples=[3])
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration on that shape", examples=[CONFIG_EXAMPLE]
    )
    serves: list[int] = Field(
        description="Numbers of the shapes that it serves; empty if not needed", examples=[[1, 3]]
    )
    binaries: int = Field(
        description="Number of binaries for its shapes; a dynamic kernel counts once, one not compiled once per shape",
        examples=[2],
    )
    content_hash: str | None = Field(
        default=None,
        description="SHA-256 of the binary if all its shapes, or else all that it was tried on, share one",
        examples=["9f86d081884c7d65..."],
    )


class CoverOut(BaseModel):
    """The fewest kernels found that keep each shape within a bound of its best."""

    within: float = Field(description="Largest slowdown of a shape, as a fraction", examples=[0.05])
    needed: list[int] = Field(
        description="Numbers of the kernels, in order of the time of their shapes", examples=[[1, 4]]
    )
    unserved: list[int] = Field(description="Numbers of shapes without any time", examples=[[]])
    one_each: bool = Field(description="True if every shape needs its own kernel", examples=[False])
    evidence: list[str] = Field(
        description="Evidence of the times that it is computed from", examples=[["interleaved"]]
    )
    total_us: float = Field(description="Weighted time of all served shapes under it, in us", examples=[5210.0])
    best_us: float = Field(description="The same with the best kernel of each shape, in us", examples=[5100.0])
    unknown: int = Field(description="Number of unknown times of kernels on shapes", examples=[3])
    binaries: int = Field(default=0, description="Number of binaries of all needed kernels", examples=[2])
    kernels: list[KernelChoice] = Field(description="Kernels that were tried on all shapes", examples=[[]])
    cells: list[CellOut] = Field(description="Time of each kernel on each shape", examples=[[]])


class ShapeSetOut(SearchOptions):
    """A set of shapes, tuned under one budget."""

    id: UUID = Field(description="Sorts by time of creation", examples=[_ID])
    source: str = Field(description="Source of the shapes", examples=["llama-3-8b@tokens=1,16"])
    status: Literal["active", "succeeded", "cancelled"] = Field(description="Status of the set", examples=["active"])
    error: str | None = Field(
        default=None, description="Why it ended without a result; null otherwise", examples=["UnknownDevice: ..."]
    )
    running: bool = Field(description="Whether a process runs it", examples=[True])
    device: str = Field(description="Device id", examples=["b580"])
    budget: BudgetBody = Field(description="Over all shapes", examples=[_BUDGET])
    spent_s: float = Field(description="Wall time of all runs, in seconds", examples=[120.5])
    trials: int = Field(description="Configurations tried, on all shapes", examples=[240])
    cross_trials: int = Field(
        default=0,
        description="Number of these trials that tried kernels of other shapes, after the search and beyond the budget",
        examples=[40],
    )
    compiled: int = Field(description="Number of kernels compiled", examples=[230])
    reused: int = Field(description="Number of compilations that were cache hits", examples=[41])
    default_us: float | None = Field(
        description="Weighted time of the shapes that have one, with the defaults, in us", examples=[9100.0]
    )
    tuned_us: float | None = Field(description="The same with the best of each, in us", examples=[7300.0])
    shapes: list[ShapeOut] = Field(description="In the order of the source", examples=[[]])
    cover: CoverOut | None = Field(
        default=None, description="The fewest kernels; null before kernels were compared across shapes", examples=[None]
    )
    created_at: datetime = Field(description="Creation time, UTC", examples=["2026-01-02T03:04:05Z"])
    finished_at: datetime | None = Field(
        default=None, description="When it ended, UTC", examples=["2026-01-02T03:24:05Z"]
    )


class ShapeSetLine(BaseModel):
    """A set of shapes in a list."""

    id: UUID = Field(description="Sorts by time of creation", examples=[_ID])
    source: str = Field(description="Source of the shapes", examples=["shapes.csv"])
    status: str = Field(description="active, succeeded or cancelled", examples=["active"])
    device: str = Field(description="Device id", examples=["b580"])
    shapes: int = Field(description="Number of shapes", examples=[20], ge=0)
    created_at: datetime = Field(description="Creation time, UTC", examples=["2026-01-02T03:04:05Z"])


class ShapeSetPage(BaseModel):
    """Sets of shapes, newest first."""

    shape_sets: list[ShapeSetLine] = Field(description="The page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[_ID])
