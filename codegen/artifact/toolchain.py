"""Versions of everything that a compiled kernel depends on."""

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

_LIBRARIES = ("torch-mlir", "llvmlite", "xdsl")
_INFO = ".dist-info"


@cache
def toolchain_versions() -> dict[str, str]:
    """Return versions by name: the libraries, and `xetune-codegen`, a hash of the sources of this package."""
    return {name: _version(name) for name in _LIBRARIES} | {"xetune-codegen": _sources_hash()}


def _version(library: str) -> str:
    """Return the version of an installed library: that in the name of its folder, where it has one.

    Source: packaging.python.org, "Recording installed projects", the .dist-info directory.
    """
    start = f"{library.replace('-', '_')}-"
    for folder in sys.path:
        for info in Path(folder).glob(f"{start}*{_INFO}"):
            return info.name[len(start) : -len(_INFO)]
    # Imported here: with its parsers of mail it takes longer than a lookup takes to find a kernel.
    from importlib.metadata import version

    return version(library)


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(Path(__file__).parents[1]):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(name for name in names if name.endswith(".py")):
            digest.update(name.encode() + b"\0" + Path(folder, name).read_bytes())
    return digest.hexdigest()[:16]
