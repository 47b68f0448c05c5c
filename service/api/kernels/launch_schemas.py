"""Schemas of the launch of a kernel: kernel.json, which is extended over time, so unknown facts pass through."""

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from db.values import JsonObject

_ARGUMENT = {"index": 0, "name": "A", "role": "input", "dtype": "f16", "bytes": 1048576, "kind": "global pointer"}
_STEP = {
    "kernel": "gemm",
    "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}],
    "global_size": [256, 4, 1],
    "local_size": [64, 1, 1],
}
_PATHS = {"A": {"by": "block2d", "because": None}}
_NEEDS = {
    "spirv": "1.4",
    "spirv_extensions": [],
    "spirv_capabilities": ["Kernel", "Int16"],
    "opencl_extensions": ["cl_intel_subgroup_2d_block_io"],
}
LAUNCH_EXAMPLE: dict[str, object] = {
    "arguments": [_ARGUMENT],
    "steps": [_STEP],
    "memory_paths": _PATHS,
    "subgroup_size": 16,
}


class ArgumentOut(BaseModel):
    """A buffer that a launch takes."""

    model_config = ConfigDict(extra="allow")

    index: int | None = Field(default=None, description="Counts from 0", examples=[0])
    name: str = Field(
        description="A, B, C, then vectors and matrices of the epilogue, then buffers of the launch itself",
        examples=["A"],
    )
    role: str | None = Field(
        default=None,
        description=(
            "input, output, inout (read, then written) or scratch (contents do not matter); "
            "all but inputs must not overlap another argument"
        ),
        examples=["input"],
    )
    dtype: str | None = Field(default=None, description="Element type in memory", examples=["f16"])
    bytes: int | None = Field(default=None, description="Minimum size of the buffer, in bytes", examples=[1048576])


class ParameterOut(BaseModel):
    """A parameter of a kernel: a pointer to an argument, or a 64-bit number."""

    model_config = ConfigDict(extra="allow")

    argument: int | None = Field(default=None, description="Index of the argument; null for a number", examples=[0])
    scalar: str | None = Field(default=None, description="Name of the number; null for a pointer", examples=["m"])
    value: int | None = Field(default=None, description="Its value for the sizes of the problem", examples=[512])


class StepOut(BaseModel):
    """One kernel of a launch; the steps run in order. On a GPU it has work sizes, on a CPU threads."""

    model_config = ConfigDict(extra="allow")

    kernel: str = Field(description="Its name in the binary: gemm, clear, finish or another", examples=["gemm"])
    parameters: list[ParameterOut] = Field(
        default_factory=list[ParameterOut], description="Its parameters, in order", examples=[_STEP["parameters"]]
    )
    global_size: list[int] = Field(
        default_factory=list[int], description="Work-items in three dimensions", examples=[[256, 4, 1]]
    )
    global_size_formula: list[str] = Field(
        default_factory=list[str],
        description="Work-items as formulas of the sizes; empty if they are constant",
        examples=[["64 * ceil(n / 96)", "ceil(m / 128)", "1"]],
    )
    local_size: list[int] = Field(
        default_factory=list[int], description="Work-items of a work-group", examples=[[64, 1, 1]]
    )
    threads: int | None = Field(
        default=None, description="Number of CPU threads it runs on; null for a GPU", examples=[2]
    )
    once: bool = Field(
        default=False,
        description="Whether it prepares memory that later launches only read: once per contents is enough",
        examples=[False],
    )


class MemoryPathOut(BaseModel):
    """Path of a matrix between memory and registers."""

    model_config = ConfigDict(extra="allow")

    by: str = Field(
        description=(
            "block2d: 2-D block messages; vectors: lanes move several elements each; lanes: one element each; "
            "copied, decoded: 2-D block messages, of what a kernel copies or decodes to a workspace before"
        ),
        examples=["block2d"],
    )
    because: str | None = Field(
        default=None, description="Rule that prevents 2-D block messages, and why", examples=["block2d-pitch: ..."]
    )


class PackingOut(BaseModel):
    """Packing of a matrix by a CPU kernel: a copy in the order in which it is read."""

    model_config = ConfigDict(extra="allow")

    when: str = Field(description="none, block, whole or beforehand", examples=["beforehand"])
    elements: str | None = Field(
        default=None, description="Element type of the packed copy; null if never packed", examples=["bf16"]
    )
    bytes: int | None = Field(
        default=None, description="Size of the packed copy, if packed whole or beforehand, in bytes", examples=[491520]
    )


class DriverNeedsOut(BaseModel):
    """Extensions and capabilities that kernel.spv declares, which a driver must offer."""

    model_config = ConfigDict(extra="allow")

    spirv: str = Field(description="Version of SPIR-V", examples=["1.4"])
    spirv_extensions: list[str] = Field(
        default_factory=list[str], description="Extensions of SPIR-V", examples=[["SPV_INTEL_bfloat16_conversion"]]
    )
    spirv_capabilities: list[str] = Field(
        default_factory=list[str], description="Capabilities of SPIR-V", examples=[["Kernel", "Int16"]]
    )
    opencl_extensions: list[str] = Field(
        default_factory=list[str],
        description="Extensions of OpenCL that a device must have",
        examples=[["cl_intel_subgroup_2d_block_io"]],
    )


class LaunchOut(BaseModel):
    """Content of kernel.json: all that a launch of kernel.spv, or a call of kernel.o, needs."""

    model_config = ConfigDict(extra="allow")

    arguments: list[ArgumentOut] = Field(
        default_factory=list[ArgumentOut], description="Its buffers, in order", examples=[[_ARGUMENT]]
    )
    steps: list[StepOut] = Field(
        default_factory=list[StepOut], description="Its kernels, in order of execution", examples=[[_STEP]]
    )
    memory_paths: dict[str, MemoryPathOut] | None = Field(
        default=None,
        description="Memory path of each matrix; null for a CPU",
        examples=[_PATHS],
    )
    pointer_alignment_bytes: int | None = Field(
        default=None, description="Required alignment of all pointers, in bytes", examples=[64]
    )
    subgroup_size: int | None = Field(default=None, description="Work-items of a sub-group", examples=[16])
    build_options: dict[str, str] = Field(
        default_factory=dict,
        description="Build options of the driver, by API",
        examples=[{"opencl": "-cl-intel-256-GRF-per-thread"}],
    )
    needs: list[str] | None = Field(
        default=None,
        description="Required CPU instructions, as /proc/cpuinfo names them; null for a GPU",
        examples=[["avx512f", "avx512_bf16"]],
    )
    driver_needs: DriverNeedsOut | None = Field(
        default=None,
        description="Extensions and capabilities that kernel.spv needs of a driver; null for a CPU",
        examples=[_NEEDS],
    )
    threads: int | None = Field(
        default=None,
        description="Minimum number of threads of the pool that a CPU kernel is given; null for a GPU",
        examples=[2],
    )
    workspace_bytes: StrictInt | None = Field(
        default=None,
        ge=0,
        le=2**40,
        description="Size of the workspace of a CPU kernel, in bytes",
        examples=[65536],
    )
    packing: dict[str, PackingOut] | None = Field(
        default=None,
        description="Packing of each matrix; null for a GPU",
        examples=[{"B": {"when": "beforehand", "elements": "bf16", "bytes": 491520}}],
    )


def to_launch(manifest: JsonObject) -> LaunchOut:
    """Return the launch that a stored kernel.json describes.

    Raises:
        ValidationError: it does not have the form of kernel.json.
    """
    return LaunchOut.model_validate(manifest)
