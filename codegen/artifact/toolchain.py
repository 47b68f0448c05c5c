"""Versions of everything that a compiled kernel depends on."""

import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files

_LIBRARIES = ("torch-mlir", "llvmlite", "xdsl")


@cache
def toolchain_versions() -> dict[str, str]:
    """Return versions by name: the libraries, and `xetune-codegen`, a hash of the sources of this package."""
    return {name: version(name) for name in _LIBRARIES} | {"xetune-codegen": _sources_hash()}


def _sources_hash() -> str:
    digest = hashlib.sha256()
    folders = [files("codegen")]
    while folders:
        for entry in sorted(folders.pop().iterdir(), key=lambda e: e.name):
            if entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry)
            elif entry.name.endswith(".py"):
                digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    return digest.hexdigest()[:16]
