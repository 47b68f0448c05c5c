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
_HELD = {"network": "namespace", "files": "landlock", "system_calls": "seccomp", "processes": True}


class CompileBody(ConfigChoice):
    """What to compile: the text of kernels, or a problem."""

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
        description="Names of the files to answer: those of the stages, and kernel.json; `*` for all",
        examples=[["kernel.spv", "kernel.json"]],
    )


class StageOut(BaseModel):
    """What one stage made."""

    name: str = Field(description="The stage", examples=["spirv"])
    file: str = Field(description="Name of its file", examples=["kernel.spv"])
    size: int = Field(description="Bytes in it", examples=[4096])
    sha256: str = Field(description="SHA-256 of it", examples=[_SHA256])
    elapsed_ms: float = Field(description="How long the stage took, in ms", examples=[12.5])


class CompiledFileOut(BaseModel):
    """A file that was asked for."""

    name: str = Field(description="Its name", examples=["kernel.spv"])
    size: int = Field(description="Bytes in it", examples=[20])
    sha256: str = Field(description="SHA-256 of it", examples=[_FILE_SHA256])
    content: str = Field(description="The file, in base64", examples=[_CONTENT])


class ConfinementOut(BaseModel):
    """What this machine holds the compiling process to, besides memory, time, an empty environment and folder."""

    network: Literal["namespace", "seccomp", "none"] = Field(
        description="namespace: it has none; seccomp: it may open no socket; none: not limited here",
        examples=["namespace"],
    )
    files: Literal["landlock", "none"] = Field(
        description="landlock: it reads the programs and writes nothing; none: not limited here", examples=["landlock"]
    )
    system_calls: Literal["seccomp", "none"] = Field(
        description="seccomp: it starts no program and signals none; none: not limited here", examples=["seccomp"]
    )
    processes: bool = Field(description="Whether its processes are counted; not those of root", examples=[True])


class CompileOut(BaseModel):
    """What was made. Nothing of it is kept: what is not asked for in `files` is gone with the answer."""

    content_hash: str = Field(description="SHA-256 of the binary", examples=[_SHA256])
    compile_key: str = Field(description="Hash of what it was made from", examples=[_SHA256])
    target: str = Field(description="Device it is for", examples=["b580"])
    stages: list[StageOut] = Field(description="Every stage in order", examples=[[_STAGE]])
    manifest: dict[str, object] = Field(description="As kernel.json has it", examples=[{"subgroup_size": 16}])
    files: list[CompiledFileOut] = Field(
        default_factory=list[CompiledFileOut],
        description="The files that were asked for, in that order",
        examples=[[_FILE]],
    )
    confinement: ConfinementOut = Field(description="What the compiler was held to", examples=[_HELD])
