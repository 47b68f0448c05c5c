"""Compiled kernels on disk, by compile key. Any damage is a miss."""

import base64
import binascii
import hashlib
import json
import os
import tempfile
from pathlib import Path

from codegen.access import memory_paths
from codegen.artifact import Distribution, GemmArtifact, StageOutput
from codegen.canonical import to_json
from codegen.config import KernelConfig
from codegen.decode import decode
from codegen.launch import launch_spec
from codegen.pipeline import compile_key
from codegen.problem import GemmProblem
from codegen.signature import KernelSignature
from codegen.target import target_of
from hal import DeviceSpec


class CompileCache:
    """A folder of compiled kernels, one file each: a SHA-256, then JSON. Safe to share between processes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> GemmArtifact | None:
        """The kernel of these inputs, or None."""
        target = target_of(spec)
        key = compile_key(problem, config, target)
        try:
            digest, _, text = self._path(key).read_bytes().partition(b"\n")
            if digest.decode() != hashlib.sha256(text).hexdigest():
                return None
            stored = json.loads(text)
            stages = tuple(
                StageOutput(s["name"], s["file"], base64.b64decode(s["data"], validate=True), s["elapsed_ms"])
                for s in stored["stages"]
            )
            toolchain: dict[str, str] = stored["toolchain"]
            content_hash: str = stored["content_hash"]
            kernels = tuple(decode(KernelSignature, kernel) for kernel in stored["kernels"])
            distribution = decode(Distribution, stored["distribution"])
        except (OSError, ValueError, KeyError, TypeError, binascii.Error):
            return None
        return GemmArtifact(
            key=key,
            content_hash=content_hash,
            target=spec.emulates or spec.id,
            stages=stages,
            toolchain=toolchain,
            kernels=kernels,
            distribution=distribution,
            problem=problem,
            config=config,
            launch=launch_spec(problem, config, target, stages[-1].data, kernels),
            memory_paths=memory_paths(problem, target),
        )

    def put(self, artifact: GemmArtifact) -> None:
        """Store a kernel: written beside, then renamed.

        Raises:
            OSError: the disk is full or the folder cannot be written; nothing is left behind.
        """
        stages = [
            {"name": s.name, "file": s.file_name, "data": base64.b64encode(s.data).decode(), "elapsed_ms": s.elapsed_ms}
            for s in artifact.stages
        ]
        stored = {
            "stages": stages,
            "toolchain": artifact.toolchain,
            "content_hash": artifact.content_hash,
            "kernels": to_json(artifact.kernels),
            "distribution": to_json(artifact.distribution),
        }
        path = self._path(artifact.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(stored).encode()
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self._root / key[:2] / f"{key}.kernel"
