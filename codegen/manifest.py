"""kernel.json: what someone needs to launch a kernel, and what it was made from."""

from codegen.artifact import GemmArtifact
from codegen.canonical import Json, to_json
from codegen.config import LoopOrder
from codegen.pipeline import LARGE_GRF_LEVEL_ZERO, LARGE_GRF_OPENCL
from codegen.target import LARGE_GRF


def manifest(artifact: GemmArtifact) -> dict[str, Json]:
    """The manifest of `kernel.spv`. Sizes are in work-items, buffers in bytes."""
    launch, config, problem = artifact.launch, artifact.config, artifact.problem
    block = config.matmul.block
    local = launch.local_size[0]
    tiles = {"n": f"ceil(n / {block.n})", "m": f"ceil(m / {block.m})"}
    x, y = ("n", "m") if config.matmul.loop_order is LoopOrder.M_OUTER else ("m", "n")
    large = config.strategy.grf_mode == LARGE_GRF
    return {
        "kernel": launch.kernel,
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
        "global_size": list(launch.global_size),
        "global_size_formula": [f"{local} * {tiles[x]}", tiles[y], "1"],
        "local_size": list(launch.local_size),
        "subgroup_size": launch.subgroup_size,
        "build_options": {
            "opencl": LARGE_GRF_OPENCL if large else "",
            "level_zero": LARGE_GRF_LEVEL_ZERO if large else "",
        },
        "distribution": {
            "by": artifact.distribution.by.value,
            "because": list(artifact.distribution.because),
        },
        "stages": [
            {"name": s.name, "file": s.file_name, "bytes": len(s.data), "elapsed_ms": round(s.elapsed_ms, 3)}
            for s in artifact.stages
        ],
        "toolchain": dict(artifact.toolchain),
    }
