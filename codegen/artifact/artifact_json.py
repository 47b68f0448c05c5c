"""A compiled kernel as JSON, without the inputs it was made from: what the cache keeps of one."""

import base64
from typing import Any

from codegen.artifact.kernel_artifact import (
    AnyArtifact,
    CpuArtifact,
    Distribution,
    GemmArtifact,
    StageOutput,
)
from codegen.artifact.signature import KernelSignature
from codegen.config.cpu import CpuConfig
from codegen.config.kernel_config import KernelConfig
from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.serialization import (
    Json,
    decode,
    to_json,
)
from codegen.target import target_of
from codegen.xe.operand_access import memory_paths
from codegen.xe.rules import check
from hal import Argument, DeviceSpec, LaunchSpec, LaunchStep


def kernel_to_json(artifact: AnyArtifact) -> dict[str, Json]:
    """Its stages and versions, and what only its kind of target has."""
    stored: dict[str, Json] = {
        "stages": [
            {"name": s.name, "file": s.file_name, "data": base64.b64encode(s.data).decode(), "elapsed_ms": s.elapsed_ms}
            for s in artifact.stages
        ],
        "toolchain": to_json(artifact.toolchain),
        "content_hash": artifact.content_hash,
    }
    if isinstance(artifact, CpuArtifact):
        launch = artifact.launch
        return stored | {
            "arguments": to_json(launch.arguments),
            "steps": to_json(launch.steps),
            "isa": to_json(launch.isa),
            "alignment": launch.alignment,
        }
    return stored | {"kernels": to_json(artifact.kernels), "distribution": to_json(artifact.distribution)}


def kernel_from_json(
    stored: Any, key: str, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec
) -> AnyArtifact:
    """The kernel of that JSON and these inputs.

    Raises:
        ValueError, KeyError, TypeError: it is not what `kernel_to_json` gives for such inputs.
        Refused: its code is that of these inputs, and a rule refuses it for their sizes.
    """
    if isinstance(config, CpuConfig):
        return _cpu(stored, key, problem, config, spec)
    return _gemm(stored, key, problem, config, spec)


def _gemm(stored: Any, key: str, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> GemmArtifact:
    from codegen.artifact.launch import launch_spec  # what writes kernels, and xDSL with it

    if problem.dynamic:  # it may have been compiled for other sizes, of which other rules hold
        check(problem, config, spec)
    target, stages = target_of(spec), _stages(stored)
    kernels = tuple(decode(KernelSignature, kernel) for kernel in stored["kernels"])
    return GemmArtifact(
        key=key,
        content_hash=stored["content_hash"],
        target=spec.emulates or spec.id,
        stages=stages,
        toolchain=stored["toolchain"],
        kernels=kernels,
        distribution=decode(Distribution, stored["distribution"]),
        problem=problem,
        config=config,
        launch=launch_spec(problem, config, target, stages[-1].data, kernels),
        memory_paths=memory_paths(problem, target),
    )


def _cpu(stored: Any, key: str, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuArtifact:
    stages = _stages(stored)
    (binary,) = (stage.data for stage in stages if stage.name == "object")
    return CpuArtifact(
        key=key,
        content_hash=stored["content_hash"],
        target=spec.id,
        stages=stages,
        toolchain=stored["toolchain"],
        problem=problem,
        config=config,
        launch=LaunchSpec(
            binary=binary,
            arguments=tuple(Argument(**argument) for argument in stored["arguments"]),
            steps=tuple(_step(step) for step in stored["steps"]),
            subgroup_size=1,
            build_options="",
            isa=decode(tuple[str, ...], stored["isa"]),
            alignment=stored["alignment"],
        ),
    )


def _step(stored: Any) -> LaunchStep:
    return LaunchStep(
        kernel=str(stored["kernel"]),
        parameters=tuple(int(p) for p in stored["parameters"]),
        global_size=decode(tuple[int, int, int], stored["global_size"]),
        local_size=decode(tuple[int, int, int], stored["local_size"]),
        once=bool(stored["once"]),
    )


def _stages(stored: Any) -> tuple[StageOutput, ...]:
    return tuple(
        StageOutput(s["name"], s["file"], base64.b64decode(s["data"], validate=True), s["elapsed_ms"])
        for s in stored["stages"]
    )
