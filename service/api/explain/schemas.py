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
    """What to explain: a problem on a device, in a configuration."""

    problem: ProblemBody = Field(description="A GEMM", examples=[{"m": 512, "n": 384, "k": 1024}])


class CeilingOut(BaseModel):
    """What a level of memory allows: a roof of the roofline."""

    level: str = Field(description="Cache, or memory", examples=["L2"])
    gbytes_per_s: float = Field(description="Its bandwidth, in GB/s", examples=[1400.0])
    flops_per_byte: float = Field(description="Operations for each byte that it gives", examples=[64.0])
    tflops: float = Field(description="What that allows, in TFLOP/s", examples=[89.6])


class GpuExplanation(BaseModel):
    """A predicted time on a GPU, taken apart. Nothing here is measured."""

    problem: str = Field(description="What is computed, in words", examples=["512x384x1024 f16->f32 NN"])
    device: str = Field(description="Device id", examples=["b580"])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    model: str = Field(description="Version of the model", examples=["xe-2-d8abce4a"])
    time_us: float = Field(description="Predicted, in us", examples=[141.8])
    low_us: float = Field(description="Least of the interval, in us", examples=[110.0])
    high_us: float = Field(description="Most of the interval, in us", examples=[190.0])
    tflops: float = Field(description="2 M N K batch / time, in TFLOP/s", examples=[88.0])
    peak_tflops: float = Field(description="Most that the device multiplies, in TFLOP/s", examples=[98.3])
    bound_by: str = Field(description="The longest part", examples=["multiply"])
    parts_us: dict[str, float] = Field(
        description="What each takes alone, in us; they overlap, and spills, kernels and launch are added",
        examples=[_PARTS],
    )
    ceilings: list[CeilingOut] = Field(description="The roofs, nearest memory first", examples=[[_CEILING]])
    work_groups: int = Field(description="Work-groups launched", examples=[128])
    groups_per_core: int = Field(description="Work-groups on a core at a time", examples=[2])
    threads_per_engine: int = Field(description="Most threads on an engine", examples=[8])
    waves: int = Field(description="How often the busiest core takes work-groups", examples=[3])
    busy: float = Field(description="Share of places that work-groups fill, as a fraction", examples=[0.93])
    memory_bytes: int = Field(description="Read from and written to memory, in bytes", examples=[50331648])
    least_bytes: int = Field(description="The same if nothing were read twice", examples=[33554432])
    registers_needed: int = Field(description="Registers that a thread needs", examples=[212])
    registers: int = Field(description="Registers that it has", examples=[256])
    registers_spilled: int = Field(description="Registers kept in memory", examples=[0])
    accuracy: list[AccuracyOut] = Field(
        description="How far predictions for the device were off, by version of the model", examples=[[]]
    )


class HeuristicStepOut(BaseModel):
    """One step to the default configuration of a CPU."""

    name: str = Field(description="The step", examples=["innermost"])
    choice: str = Field(description="What it chose", examples=["6x64x4"])
    why: str = Field(description="Why", examples=["24 of 32 registers hold sums of C"])


class TrafficOut(BaseModel):
    """Bytes that the loops bring into a cache, over all threads, estimated."""

    into: str = Field(description="The cache", examples=["L2"])
    a: int = Field(description="Of A", examples=[1048576])
    b: int = Field(description="Of B", examples=[2097152])
    c: int = Field(description="Of C and sums", examples=[786432])
    packing: int = Field(description="Of packing", examples=[0])
    total: int = Field(description="Of all", examples=[3932160])


class CpuExplanation(BaseModel):
    """Why a configuration for a CPU is as it is, and the traffic that it makes. Times there are measured, by jobs."""

    problem: str = Field(description="What is computed, in words", examples=["512x384x1024 f32->f32 NN"])
    device: str = Field(description="Device id", examples=["cpu"])
    config: ConfigBody | dict[str, object] = Field(description="The configuration, whole", examples=[CONFIG_EXAMPLE])
    default_steps: list[HeuristicStepOut] = Field(
        description="How the default is chosen, which this may not be", examples=[[_STEP]]
    )
    operand_bytes: dict[str, int] = Field(
        description="Bytes of A, of B, and of C with what the epilogue reads",
        examples=[{"a": 1048576, "b": 786432, "c": 786432}],
    )
    traffic_bytes: list[TrafficOut] = Field(description="For each cache", examples=[[_TRAFFIC]])
    flops: int = Field(description="2 M N K batch", examples=[402653184])
