"""Versions of everything that a compiled kernel depends on."""

import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = ("torch-mlir", "llvmlite", "xdsl")


@cache
def toolchain_versions() -> dict[str, str]:
    """Return versions by name: the libraries, and `xetune-codegen`, a hash of the sources of this package."""
    return {name: version(name) for name in _LIBRARIES} | {"xetune-codegen": _sources_hash()}


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(Path(__file__).parents[1]):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(name for name in names if name.endswith(".py")):
            digest.update(name.encode() + b"\0" + Path(folder, name).read_bytes())
    return digest.hexdigest()[:16]
