"""Xe kernels in the compile cache."""

from typing import Any

from codegen.artifact.artifact_json import common_to_json, stages_from_json
from codegen.artifact.kernel_artifact import GemmArtifact
from codegen.artifact.launch import launch_spec
from codegen.artifact.signature import KernelSignature
from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json, decode, to_json
from codegen.target import target_of
from codegen.xe.operand_access import memory_paths
from codegen.xe.rules import check
from hal import DeviceSpec


def artifact_to_json(artifact: GemmArtifact) -> dict[str, Json]:
    """Return the artifact as JSON, without its inputs and what can be derived from them."""
    own = {"kernels": to_json(artifact.kernels)}
    return common_to_json(artifact) | own


def artifact_from_json(stored: Any, key: str, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> GemmArtifact:
    """Build the artifact from its JSON and its inputs.

    Raises:
        ValueError, KeyError, TypeError: the JSON is malformed.
        Refused: the code matches these inputs, but a rule refuses their sizes.
    """
    if problem.dynamic:  # it may have been compiled for other sizes, to which other rules apply
        check(problem, config, spec)
    target, stages = target_of(spec), stages_from_json(stored)
    kernels = tuple(decode(KernelSignature, kernel) for kernel in stored["kernels"])
    return GemmArtifact(
        key=key,
        content_hash=stored["content_hash"],
        target=spec.emulates or spec.id,
        stages=stages,
        toolchain=stored["toolchain"],
        kernels=kernels,
        problem=problem,
        config=config,
        launch=launch_spec(problem, config, target, stages[-1].data, kernels),
        memory_paths=memory_paths(problem, target, config.strategy.workspace),
    )
