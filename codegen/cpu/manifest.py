"""kernel.json of a kernel for CPUs: how to call it, and its inputs."""

from codegen.artifact.kernel_artifact import CpuArtifact
from codegen.config.cpu import Packing
from codegen.cpu.header import returned
from codegen.cpu.nest.plan import Plan
from codegen.serialization import (
    Json,
    to_json,
)
from hal import LaunchStep

WORKSPACE, PACKED_B = "workspace", "packed_B"
"""Arguments of a launch that the kernel alone writes and reads."""


def cpu_manifest(artifact: CpuArtifact) -> dict[str, Json]:
    """Return the manifest of `kernel.o`. Buffers are in bytes."""
    launch, config, problem = artifact.launch, artifact.config, artifact.problem
    scratch = {a.name: a.nbytes for a in launch.arguments if a.role == "scratch"}
    return {
        "content_hash": f"sha256:{artifact.content_hash}",
        "compile_key": artifact.key,
        "compiled_for": artifact.target,
        "needs": list(launch.isa),
        "problem": to_json(problem),
        "configuration": to_json(config),
        "abi": {
            "header": "kernel.h",
            "object": "kernel.o",
            "format": "ELF, x86-64 System V, position independent",
            "returns": returned(Plan(problem, config, launch.isa)),
        },
        "arguments": [
            {"index": i, "name": a.name, "role": a.role, "dtype": a.dtype, "bytes": a.nbytes, "kind": "pointer"}
            for i, a in enumerate(launch.arguments)
        ],
        "pointer_alignment_bytes": problem.alignment,
        "threads": config.thread_count,
        "workspace_bytes": scratch.get(WORKSPACE, 0),
        "packing": _packing(artifact),
        "steps": [_step(step) for step in launch.steps],
        "stages": [
            {"name": s.name, "file": s.file_name, "bytes": len(s.data), "elapsed_ms": round(s.elapsed_ms, 3)}
            for s in artifact.stages
        ],
        "toolchain": dict(artifact.toolchain),
    }


def _packing(artifact: CpuArtifact) -> dict[str, Json]:
    """Return when each matrix is packed, its packed element type, and its size if packed whole."""
    plan = Plan(artifact.problem, artifact.config, artifact.launch.isa)
    return {
        name: {
            "when": when.value,
            "elements": None if when is Packing.NONE else plan.multiply.value,
            "bytes": nbytes if when in (Packing.WHOLE, Packing.BEFOREHAND) else None,
        }
        for name, when, nbytes in (("A", plan.packs_a, plan.packed_a_bytes), ("B", plan.packs_b, plan.packed_b_bytes))
    }


def _step(step: LaunchStep) -> Json:
    return {
        "kernel": step.kernel,
        "parameters": [{"argument": p} for p in step.parameters if isinstance(p, int)],
        "threads": step.global_size[0],
        "once": step.once,
    }
