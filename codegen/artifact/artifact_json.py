"""Common part of every backend's artifacts in the compile cache: stages, versions and the hash of the code."""

import base64
from typing import Any

from codegen.artifact.kernel_artifact import AnyArtifact, StageOutput
from codegen.serialization import Json, to_json


def common_to_json(artifact: AnyArtifact) -> dict[str, Json]:
    """Return stages, toolchain versions and content hash as JSON."""
    return {
        "stages": [
            {"name": s.name, "file": s.file_name, "data": base64.b64encode(s.data).decode(), "elapsed_ms": s.elapsed_ms}
            for s in artifact.stages
        ],
        "toolchain": to_json(artifact.toolchain),
        "content_hash": artifact.content_hash,
    }


def stages_from_json(stored: Any) -> tuple[StageOutput, ...]:
    """Return the stages that `common_to_json` stored.

    Raises:
        ValueError, KeyError, TypeError: the JSON is of another form.
    """
    return tuple(
        StageOutput(s["name"], s["file"], base64.b64decode(s["data"], validate=True), s["elapsed_ms"])
        for s in stored["stages"]
    )
