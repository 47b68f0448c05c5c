"""Compilation on the wire."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from service.configurations import ConfigChoice
from service.schemas import ProblemBody

_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_STAGE = {"name": "spirv", "file": "kernel.spv", "size": 4096, "sha256": _SHA256, "elapsed_ms": 12.5}
_FILE_SHA256 = "4156e071bb495a6ea12bb7098318a5b0bc498bfdec9b51ba6601c7142b00f934"
_CONTENT = "AwIjBwAGAQAhAAAAFAAAAAAAAAA="
_FILE = {"name": "kernel.spv", "size": 20, "sha256": _FILE_SHA256, "content": _CONTENT}
HELD = {
    "network": "namespace",
    "files": "landlock",
    "truncation": "landlock",
    "system_calls": "seccomp",
    "process_ids": "namespace",
    "user": "service",
    "processes": True,
    "lacks": [],
}


class CompileBody(ConfigChoice):
    """Input of a compilation: the text of kernels, or a problem."""

    source: str | None = Field(
        default=None,
        min_length=1,
        description="Kernels as text, XeTile or XeGPU; then without problem and config",
        examples=["gpu.module @kernels { ... }"],
    )
    problem: ProblemBody | None = Field(
        default=None, description="A GEMM; then without source", examples=[{"m": 512, "n": 384, "k": 1024}]
    )
    files: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        default_factory=list[str],
        max_length=16,
        description="Names of the files to return: those of the stages, and kernel.json; `*` for all",
        examples=[["kernel.spv", "kernel.json"]],
    )


class StageOut(BaseModel):
    """Output of one stage."""

    name: str = Field(description="The stage", examples=["spirv"])
    file: str = Field(description="Name of its file", examples=["kernel.spv"])
    size: int = Field(description="Bytes in it", examples=[4096])
    sha256: str = Field(description="SHA-256 of it", examples=[_SHA256])
    elapsed_ms: float = Field(description="Duration of the stage, in ms", examples=[12.5])


class CompiledFileOut(BaseModel):
    """A requested file."""

    name: str = Field(description="Its name", examples=["kernel.spv"])
    size: int = Field(description="Bytes in it", examples=[20])
    sha256: str = Field(description="SHA-256 of it", examples=[_FILE_SHA256])
    content: str = Field(description="Content of the file, in base64", examples=[_CONTENT])


class ConfinementOut(BaseModel):
    """Restrictions of the compiling process, besides memory, time, an empty environment and an empty folder."""

    network: Literal["namespace", "seccomp", "none"] = Field(
        description="namespace: no network; seccomp: cannot open sockets; none: not restricted here",
        examples=["namespace"],
    )
    files: Literal["landlock", "none"] = Field(
        description="landlock: read-only access to programs; none: not restricted here", examples=["landlock"]
    )
    truncation: Literal["landlock", "seccomp", "none"] = Field(
        description="By what files that it only reads cannot be emptied; none: not restricted here",
        examples=["landlock"],
    )
    system_calls: Literal["seccomp", "none"] = Field(
        description="seccomp: only calls of an allow-list; none: not restricted here", examples=["seccomp"]
    )
    process_ids: Literal["namespace", "none"] = Field(
        description="namespace: sees no process but its own; none: not restricted here", examples=["namespace"]
    )
    user: Literal["own", "service"] = Field(
        description="own: a user that nothing else runs as; service: the service's user", examples=["service"]
    )
    processes: bool = Field(description="Whether the number of its processes is limited; not for root", examples=[True])
    lacks: list[str] = Field(
        default_factory=list[str], description="What this platform does not restrict, with the remedy", examples=[[]]
    )


class CompileOut(BaseModel):
    """Result of a compilation. Nothing is stored; request files with `files`."""

    content_hash: str = Field(description="SHA-256 of the binary", examples=[_SHA256])
    compile_key: str = Field(description="Hash of all inputs of the compilation", examples=[_SHA256])
    target: str = Field(description="Target device", examples=["b580"])
    stages: list[StageOut] = Field(description="Every stage in order", examples=[[_STAGE]])
    manifest: dict[str, object] = Field(description="Content of kernel.json", examples=[{"subgroup_size": 16}])
    files: list[CompiledFileOut] = Field(
        default_factory=list[CompiledFileOut],
        description="Requested files, in the order of the request",
        examples=[[_FILE]],
    )
    confinement: ConfinementOut = Field(description="Restrictions of the compiling process", examples=[HELD])
