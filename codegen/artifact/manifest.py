"""kernel.json: how to launch kernels, and their inputs."""

from codegen.artifact.kernel_artifact import (
    GemmArtifact,
    KernelArtifact,
)
from codegen.artifact.launch import groups_formula
from codegen.artifact.signature import (
    KernelSignature,
    Parameter,
)
from codegen.serialization import (
    Json,
    to_json,
)
from codegen.target import LARGE_GRF_LEVEL_ZERO, LARGE_GRF_OPENCL
from hal import LaunchStep
from hal.spirv.needs import spirv_needs


def manifest(artifact: GemmArtifact) -> dict[str, Json]:
    """Return the manifest of `kernel.spv`. Sizes are in work-items, buffers in bytes."""
    launch, config, problem = artifact.launch, artifact.config, artifact.problem
    return {
        "content_hash": f"sha256:{artifact.content_hash}",
        "compile_key": artifact.key,
        "compiled_for": artifact.target,
        "problem": to_json(problem),
        "configuration": to_json(config),
        "arguments": [
            {"index": i, "name": a.name, "role": a.role, "dtype": a.dtype, "bytes": a.nbytes, "kind": "global pointer"}
            for i, a in enumerate(launch.arguments)
        ],
        "pointer_alignment_bytes": problem.alignment,
        "memory_paths": {
            name: {"by": path.by.value, "because": path.rule and f"{path.rule}: {path.why}"}
            for name, path in artifact.memory_paths.items()
        },
        "steps": [_step(artifact, step) for step in launch.steps],
        "assumes": {kernel.name: _assumed(kernel) for kernel in artifact.kernels},
        "subgroup_size": launch.subgroup_size,
        "build_options": {
            "opencl": launch.build_options,
            "level_zero": LARGE_GRF_LEVEL_ZERO if launch.build_options == LARGE_GRF_OPENCL else "",
        },
        "driver_needs": _driver_needs(artifact),
        **_provenance(artifact),
    }


def _driver_needs(artifact: KernelArtifact) -> Json:
    """Return what kernel.spv needs of a driver, as it declares it."""
    needs = spirv_needs(artifact.stage("spirv").data)
    return {
        "spirv": needs.version,
        "spirv_extensions": list(needs.extensions),
        "spirv_capabilities": list(needs.capabilities),
        "opencl_extensions": list(needs.opencl_extensions),
    }


def _step(artifact: GemmArtifact, step: LaunchStep) -> Json:
    parameters: list[Json] = [
        {"argument": p} if isinstance(p, int) else {"scalar": p.name, "value": p.value} for p in step.parameters
    ]
    groups = groups_formula(artifact.problem, artifact.config, step.kernel)
    return {
        "kernel": step.kernel,
        "parameters": parameters,
        "global_size": list(step.global_size),
        "global_size_formula": [
            f"{local} * {count}" if local > 1 else count for local, count in zip(step.local_size, groups, strict=True)
        ],
        "local_size": list(step.local_size),
    }


def module_manifest(artifact: KernelArtifact) -> dict[str, Json]:
    """Return the manifest of the kernels of a module: parameters in the order of the binary."""
    kernels: list[Json] = [_kernel(signature) for signature in artifact.kernels]
    made: dict[str, Json] = {
        "content_hash": f"sha256:{artifact.content_hash}",
        "compile_key": artifact.key,
        "compiled_for": artifact.target,
        "kernels": kernels,
        "driver_needs": _driver_needs(artifact),
    }
    return made | _provenance(artifact)


def _kernel(signature: KernelSignature) -> Json:
    return {
        "name": signature.name,
        "parameters": [_parameter(signature, parameter) for parameter in signature.parameters],
        "local_size": None if signature.local_size is None else list(signature.local_size),
        "source_counts_subgroups": signature.counts_subgroups,
        "slm_bytes": signature.slm_bytes,
        "subgroup_size": signature.subgroup_size,
        "assumes": _assumed(signature),
    }


def _assumed(signature: KernelSignature) -> Json:
    if signature.assumes is None:
        return None
    return [assumption.in_words(signature.arguments) for assumption in signature.assumes]


def _parameter(signature: KernelSignature, parameter: Parameter) -> Json:
    argument = signature.arguments[parameter.argument]
    return {
        "argument": argument.name,
        "field": parameter.field.value,
        "axis": parameter.axis,
        "type": argument.element,
        "shape": None if argument.shape is None else list(argument.shape),
        "strides": None if argument.strides is None else list(argument.strides),
    }


def _provenance(artifact: KernelArtifact) -> dict[str, Json]:
    return {
        "stages": [
            {"name": s.name, "file": s.file_name, "bytes": len(s.data), "elapsed_ms": round(s.elapsed_ms, 3)}
            for s in artifact.stages
        ],
        "toolchain": dict(artifact.toolchain),
    }
