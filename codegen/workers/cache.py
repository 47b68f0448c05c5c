"""Compiled kernels on disk, by what their code depends on. Any damage is a miss."""

import hashlib
import json
import threading
from pathlib import Path

from codegen.artifact.files import make_private, write_atomically
from codegen.artifact.kernel_artifact import AnyArtifact
from codegen.backend import backend_of
from codegen.config.kernel_config import KernelConfig
from codegen.errors import Refused
from codegen.problem.gemm import GemmProblem
from hal import DeviceSpec


class CacheUses:
    """Counts of cache hits and misses. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hits = self.misses = 0

    def note(self, *, hit: bool) -> None:
        """Count one."""
        with self._lock:
            if hit:
                self.hits += 1
            else:
                self.misses += 1


class CompileCache:
    """A folder of compiled kernels, one file each: a SHA-256, then JSON. Safe to share between processes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> AnyArtifact | None:
        """Return the kernel of these inputs, or None; a dynamic one may have been compiled for other sizes.

        One that a rule refuses for these sizes is None too: `compile_kernel` says why.
        """
        backend, path = backend_of(config), self._path(problem, config, spec)
        key = backend.compile_key(problem, config, spec)
        try:
            digest, _, text = path.read_bytes().partition(b"\n")
            if digest.decode() != hashlib.sha256(text).hexdigest():
                return None
            return backend.artifact_from_json(json.loads(text), key, problem, config, spec)
        except (OSError, ValueError, KeyError, TypeError, Refused):
            return None

    def holds(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> bool:
        """Return whether a kernel of these inputs was stored; only `get` checks its integrity."""
        return self._path(problem, config, spec).exists()

    def put(self, artifact: AnyArtifact, spec: DeviceSpec) -> None:
        """Store a kernel that was compiled for a device: written beside, then renamed.

        Raises:
            OSError: the disk is full or the folder cannot be written; nothing is left behind.
        """
        path = self._path(artifact.problem, artifact.config, spec)
        make_private(path.parent)
        text = json.dumps(backend_of(artifact.config).artifact_to_json(artifact)).encode()
        write_atomically(path, hashlib.sha256(text).hexdigest().encode() + b"\n" + text, private=True)

    def _path(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Path:
        key = backend_of(config).code_key(problem, config, spec)
        return self._root / key[:2] / f"{key}.kernel"
