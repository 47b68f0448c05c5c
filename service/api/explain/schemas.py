"""Explanations on the wire."""

from pydantic import BaseModel, Field

from service.api.accuracy.schemas import AccuracyOut
from service.configurations import CONFIG_EXAMPLE, ConfigBody, ConfigChoice
from service.schemas import ProblemBody

_PARTS = {"multiply": 139.8, "memory": 96.1, "launch": 2.0}
_CEILING = {"level": "L2", "gbytes_per_s": 1400.0, "flops_per_byte": 64.0, "tflops": 89.6}
_STEP = {"name": "innermost", "choice": "6x64x4", "why": "24 of 32 registers hold sums of C"}
_TRAFFIC = {"into": "L2", "a": 1048576, "b": 2097152, "c": 786432, "packing": 0, "total": 3932160}


class ExplainBody(ConfigChoice):
    """Input of an explanation: a problem on a device, in a configuration."""

    problem: ProblemBody = Field(description="A GEMM", examples=[{"m": 512, "n": 384, "k": 1024}])


class CeilingOut(BaseModel):
    """Ceiling of the roofline from one level of memory."""

    level: str = Field(description="Cache, or memory", examples=["L2"])
    gbytes_per_s: float = Field(description="Its bandwidth, in GB/s", examples=[1400.0])
    flops_per_byte: float = Field(description="Operations per byte that it transfers", examples=[64.0])
    tflops: float = Field(description="Throughput at that bandwidth, in TFLOP/s", examples=[89.6])


class GpuExplanation(BaseModel):
    """Breakdown of a predicted time on a GPU. Nothing is measured."""

    problem: str = Field(description="Problem in words", examples=["512x384x1024 f16->f32 NN"])
    device: str = Field(description="Device id", examples=["b580"])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    model: str = Field(description="Version of the model", examples=["xe-4-fb8a8097"])
    time_us: float = Field(description="Predicted, in us", examples=[141.8])
    low_us: float = Field(description="Lower bound of the interval, in us", examples=[110.0])
    high_us: float = Field(description="Upper bound of the interval, in us", examples=[190.0])
    tflops: float = Field(description="2 M N K batch / time, twice that if gated, in TFLOP/s", examples=[88.0])
    peak_tflops: float = Field(description="Peak of the device, in TFLOP/s", examples=[98.3])
    bound_by: str = Field(description="The longest part", examples=["multiply"])
    parts_us: dict[str, float] = Field(
        description="Time of each part alone, in us; parts overlap, and spills, kernels and launch are added",
        examples=[_PARTS],
    )
    ceilings: list[CeilingOut] = Field(
        description="Ceilings of the roofline, nearest memory first", examples=[[_CEILING]]
    )
    work_groups: int = Field(description="Work-groups launched", examples=[128])
    groups_per_core: int = Field(description="Work-groups resident per core", examples=[2])
    threads_per_engine: int = Field(description="Maximum number of threads per EU", examples=[8])
    waves: int = Field(description="Number of waves of work-groups on the busiest core", examples=[3])
    busy: float = Field(description="Share of work-group slots that are filled, as a fraction", examples=[0.93])
    memory_bytes: int = Field(description="Bytes read from and written to memory", examples=[50331648])
    least_bytes: int = Field(description="The same if every byte were read once", examples=[33554432])
    registers_needed: int = Field(description="Registers needed per thread", examples=[212])
    registers: int = Field(description="Registers available per thread", examples=[256])
    registers_spilled: int = Field(description="Registers spilled to memory", examples=[0])
    assumed: dict[str, list[int]] = Field(
        default={},
        description="Facts of the device that are unknown: the assumed value, and the plausible range of the interval",
        examples=[{"l2_bytes": [20971520, 10485760, 31457280]}],
    )
    accuracy: list[AccuracyOut] = Field(
        description="Accuracy of predictions for the device, by model version", examples=[[]]
    )


class HeuristicStepOut(BaseModel):
    """One step of the heuristic that chooses the default configuration of a CPU."""

    name: str = Field(description="The step", examples=["innermost"])
    choice: str = Field(description="What it chose", examples=["6x64x4"])
    why: str = Field(description="Why", examples=["24 of 32 registers hold sums of C"])


class TrafficOut(BaseModel):
    """Estimated traffic of the loops into a cache, over all threads, in bytes."""

    into: str = Field(description="The cache", examples=["L2"])
    a: int = Field(description="Of A", examples=[1048576])
    b: int = Field(description="Of B", examples=[2097152])
    c: int = Field(description="Of C and accumulators", examples=[786432])
    packing: int = Field(description="Of packing", examples=[0])
    total: int = Field(description="Of all", examples=[3932160])


class CpuExplanation(BaseModel):
    """Reasons for a CPU configuration, and its estimated traffic. Times on CPUs are measured, by jobs."""

    problem: str = Field(description="Problem in words", examples=["512x384x1024 f32->f32 NN"])
    device: str = Field(description="Device id", examples=["cpu"])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    default_steps: list[HeuristicStepOut] = Field(
        description="Steps that choose the default configuration, which may differ from this one", examples=[[_STEP]]
    )
    operand_bytes: dict[str, int] = Field(
        description="Bytes of A, of B, and of C with the operands of the epilogue",
        examples=[{"a": 1048576, "b": 786432, "c": 786432}],
    )
    traffic_bytes: list[TrafficOut] = Field(description="For each cache", examples=[[_TRAFFIC]])
    flops: int = Field(description="2 M N K batch, twice that if gated", examples=[402653184])
