"""CPU kernels in the compile cache."""

from typing import Any

from codegen.artifact.artifact_json import common_to_json, stages_from_json
from codegen.artifact.kernel_artifact import CpuArtifact
from codegen.config.cpu import CpuConfig
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json, decode, to_json
from hal import Argument, DeviceSpec, LaunchSpec, LaunchStep


def artifact_to_json(artifact: CpuArtifact) -> dict[str, Json]:
    """Return the artifact with its launch, without its inputs, as JSON."""
    launch = artifact.launch
    return common_to_json(artifact) | {
        "arguments": to_json(launch.arguments),
        "steps": to_json(launch.steps),
        "isa": to_json(launch.isa),
        "alignment": launch.alignment,
    }


def artifact_from_json(stored: Any, key: str, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuArtifact:
    """Return the artifact of that JSON and these inputs.

    Raises:
        ValueError, KeyError, TypeError: the JSON is of another form.
    """
    stages = stages_from_json(stored)
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
